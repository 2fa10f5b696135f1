import { useMemo } from "preact/hooks";
import { inkOn } from "../../contrast";
import type { Kind, Timeline } from "../../document";
import { type Lit, mood } from "../../focus";
import { extent, type Heights, heightOf, labels, shapes } from "./cells";
import type { Lane } from "./lanes";
import { kPhases } from "./stage";
import { ticks, toPixel, type View } from "./time";
import type { Match } from "./search";
import { type Spot, timesOf } from "./words";

/** All lanes of a prediction or a run, from `top`. */
export function Lanes(props: {
  lanes: Lane[];
  kinds: Kind[];
  view: View;
  heights: Heights;
  top: number;
  lit: Lit;
  spot: Spot | null;
  matches?: Match[]; // of a search
  clip?: string; // ID of the clip path of the drawing
}) {
  const { lanes, view, heights, top } = props;
  const pitch = heightOf(heights) + heights.gap;
  const each = Math.ceil(12 / pitch); // name every n-th lane if lanes are low
  return (
    <>
      {lanes.map((lane, i) => (
        <g
          key={lane.ppRank}
          class={`lane ${mood(props.lit.ppRanks, lane.ppRank)}`}
          transform={`translate(0 ${top + i * pitch})`}
        >
          <rect class="idle" width={whole(lane, view)} height={heightOf(heights)} />
          <Cells
            lane={lane}
            kinds={props.kinds}
            view={view}
            heights={heights}
            clip={props.clip ?? "timeline-clip"}
          />
          {i % each === 0 && (
            <text class="name" x={-8} y={heightOf(heights) / 2 + 4}>
              {i === 0 ? "pp " : ""}
              {lane.ppRank}
            </text>
          )}
          {props.matches && <Found lane={lane} {...{ view, heights }} matches={props.matches} />}
          {props.spot?.lane === lane && <Mark spot={props.spot} view={view} heights={heights} />}
        </g>
      ))}
    </>
  );
}

/** Returns the pixel position of the end of the lane's step. */
function whole(lane: Lane, view: View): number {
  return Math.max(0, Math.min(view.width, toPixel(view, lane.end)));
}

/** Renders again only when the view changes, not with the pointer. */
function Cells(props: {
  lane: Lane;
  kinds: Kind[];
  view: View;
  heights: Heights;
  clip: string;
}) {
  const { lane, kinds, view, heights, clip } = props;
  return useMemo(
    () => (
      <g clip-path={`url(#${clip})`}>
        {shapes(lane, kinds, view, heights).map((shape) => (
          <path d={shape.path} fill={shape.color} stroke={shape.edge} />
        ))}
        {labels(lane, kinds, view, heights).map((label) => (
          <text
            class="number"
            x={label.x}
            y={heights.cells / 2 + 3.5}
            style={{ fill: inkOn(label.color) }}
          >
            {label.text}
          </text>
        ))}
      </g>
    ),
    [lane, kinds, view, heights, clip],
  );
}

/** The outlines of the events that a search found. */
function Found(props: { lane: Lane; matches: Match[]; view: View; heights: Heights }) {
  const { lane, view, heights } = props;
  const path = props.matches
    .filter((match) => match.lane === lane)
    .map(({ index }) => {
      const event = lane.events[index];
      const at = extent(event, view);
      if (!at) return "";
      const top = event.beside ? heights.cells + 1 : 0;
      const bottom = event.beside ? heightOf(heights) : heights.cells;
      return `M${at.from} ${top}H${at.to}V${bottom}H${at.from}Z`;
    })
    .join("");
  return path ? <path class="found" d={path} /> : null;
}

/** The outline of the focused cell or part. */
function Mark({ spot, view, heights }: { spot: Spot; view: View; heights: Heights }) {
  const at = extent(timesOf(spot), view);
  if (!at) return null;
  const beside = spot.lane.events[spot.index]?.beside;
  return (
    <rect
      class="mark"
      x={at.from - 1}
      y={beside ? heights.cells : -1}
      width={Math.max(3, at.to - at.from + 1)}
      height={beside ? heights.beside + 2 : heights.cells + 2}
    />
  );
}

/** Names of the phases above the lanes, and lines through the lanes where a phase ends. */
export function Phases({
  timeline,
  view,
  height,
}: {
  timeline: Timeline;
  view: View;
  height: number;
}) {
  return (
    <g class="phases">
      {timeline.summary.phases.map((phase, i) => {
        const from = Math.max(0, toPixel(view, phase.begin_seconds));
        const to = Math.min(view.width, toPixel(view, phase.end_seconds));
        if (to <= from) return null;
        return (
          <g>
            <rect class={`phase p${i % 2}`} x={from} y={0} width={to - from} height={kPhases - 4} />
            {to - from > phase.phase.length * 6.5 + 8 && (
              <text x={from + 6} y={12}>
                {phase.phase}
              </text>
            )}
            {from > 0 && <path d={`M${from} 0V${height}`} />}
          </g>
        );
      })}
    </g>
  );
}
export function Axis({ view, top }: { view: View; top: number }) {
  return (
    <g class="time-axis" transform={`translate(0 ${top})`}>
      {ticks(view).map((tick) => {
        const x = toPixel(view, tick.at);
        return (
          <g transform={`translate(${x} 0)`}>
            <path d="M0 0V5" />
            <text y={17} text-anchor={x < 20 ? "start" : x > view.width - 20 ? "end" : "middle"}>
              {tick.text}
            </text>
          </g>
        );
      })}
    </g>
  );
}
/** The critical path: along the top of a rank's lane while it is on the path, then to the next lane. */
export function CriticalPath(props: {
  timeline: Timeline;
  lanes: Lane[];
  view: View;
  heights: Heights;
  top: number;
}) {
  const { timeline, lanes, view, heights, top } = props;
  const path = useMemo(() => {
    const pitch = heightOf(heights) + heights.gap;
    const rows = new Map(
      lanes.map((lane, i) => [lane.ppRank, top + i * pitch + heights.cells / 6]),
    );
    const x = (tick: number) => toPixel(view, tick * timeline.tick_seconds).toFixed(1);
    return timeline.path
      .filter(([rank]) => rows.has(rank))
      .map(([rank, begin, end]) => `${x(begin)} ${rows.get(rank)}L${x(end)} ${rows.get(rank)}`)
      .join("L");
  }, [timeline, lanes, view, heights, top]);
  if (!path) return null;
  return (
    <g class="critical-path" clip-path="url(#timeline-clip)">
      <path class="halo" d={`M${path}`} />
      <path d={`M${path}`} />
    </g>
  );
}
