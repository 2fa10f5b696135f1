import { useEffect, useMemo, useState } from "preact/hooks";
import type { Timeline } from "../../document";
import { nothing, type SectionProps } from "../../focus";
import { plural, seconds, share } from "../../format";
import { hideTip, showTip } from "../../tooltip";
import { useWidth } from "../../width";
import { heightOf } from "./cells";
import { Axis, CriticalPath, Lanes, Phases } from "./chart";
import { hit, kSteps, stageOf, stepped, topOf } from "./stage";
import { toPixel, type View } from "./time";
import { MemoryOverTime } from "./memory";
import { findEvents } from "./search";
import { totalsIn } from "./totals";
import { Facts, sentence, type Spot, spotOf, timesOf } from "./words";
import { useZoom } from "./zoom";

const kNames = 40; // pixels for the names of the lanes
const kAxis = 22; // pixels for the times

/** Returns a range of seconds as fractions of the step. */
function fractionsOf(range: [number, number] | null, end: number) {
  if (!range || range[0] >= end) return { from: 0, to: 1 };
  return { from: range[0] / end, to: Math.min(1, range[1] / end) };
}

/** The lanes with their names and axis, and pointer and key handling. */
export function Plot(props: SectionProps & { timeline: Timeline; path: boolean }) {
  const { plan, timeline, lit, point } = props;
  const { element, width } = useWidth<HTMLDivElement>();
  const room = Math.max(0, width - kNames - 1);
  const stage = useMemo(() => stageOf(plan, timeline), [plan, timeline]);
  const zoom = useZoom(room, fractionsOf(props.range, stage.end));
  const [spot, setSpot] = useState<Spot | null>(null);
  const [query, setQuery] = useState("");
  const [current, setCurrent] = useState(-1);
  const matches = useMemo(
    () => findEvents(stage.blocks.flatMap((block) => block.lanes), stage.kinds, query),
    [stage, query],
  );
  const { heights, blocks } = stage;
  const { from, to } = zoom.seen;
  const view: View = useMemo(
    () => ({ from: from * stage.end, to: to * stage.end, width: room }),
    [from, to, stage, room],
  );
  const height = stage.bottom + kAxis;
  const zoomed = from > 1e-9 || to < 1 - 1e-9;
  // The range goes into the URL when zooming has ended.
  useEffect(() => {
    const timer = setTimeout(
      () => props.setRange(zoomed ? [from * stage.end, to * stage.end] : null),
      200,
    );
    return () => clearTimeout(timer);
  }, [from, to, stage]);
  const totals = useMemo(
    () => totalsIn(blocks[0].lanes, stage.kinds, view.from, view.to),
    [blocks, stage, view],
  );

  const choose = (next: Spot | null) => {
    if (next?.lane === spot?.lane && next?.index === spot?.index) return;
    setSpot(next);
    point(next ? { on: "pp", ppRank: next.lane.ppRank } : nothing);
    if (next) showTip({ getBoundingClientRect: () => rectOf(next) }, <Facts spot={next} />);
    else hideTip();
  };
  const rectOf = (of: Spot) => {
    const own = zoom.plot.current!.getScreenCTM()!;
    const { begin, end } = timesOf(of);
    const left = Math.max(0, toPixel(view, begin));
    const right = Math.min(room, toPixel(view, end));
    const top = topOf(stage, of.lane);
    return new DOMRect(own.e + left, own.f + top, right - left, heightOf(heights));
  };
  /** Goes to the next match, and shows it in the middle if it is out of view. */
  const next = (by: number) => {
    if (matches.length === 0) return;
    const at = (current + by + matches.length) % matches.length;
    setCurrent(at);
    const found = spotOf(matches[at].lane, matches[at].index, stage.kinds);
    choose(found);
    hideTip();
    const { begin, end } = timesOf(found);
    if (begin < view.from || end > view.to) zoom.bring((begin + end) / 2 / stage.end);
  };
  const pin = (of: Spot | null) => of && point.pin({ on: "pp", ppRank: of.lane.ppRank });
  const spotAt = (event: MouseEvent) => {
    const own = zoom.plot.current!.getScreenCTM()!;
    return hit(stage, view, event.clientX - own.e, event.clientY - own.f);
  };
  const onPointerMove = (event: MouseEvent) => choose(event.buttons > 0 ? null : spotAt(event));
  const onClick = (event: MouseEvent) => {
    const found = spotAt(event); // a tap has no pointer that moved there before
    choose(found);
    pin(found);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = kSteps[event.key];
    const next = step && stepped(stage, view, spot, step);
    if (next) {
      choose(next);
      const { begin, end } = timesOf(next);
      if (end < view.from || begin > view.to) zoom.bring((begin + end) / 2 / stage.end);
    } else if (event.key === "Enter" && spot) pin(spot);
    else if (zoom.keys[event.key]) zoom.keys[event.key]();
    else return;
    event.preventDefault();
  };

  return (
    <>
      <div class="timeline-tools">
        <button type="button" onClick={zoom.moves.closer} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={zoom.moves.farther} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={zoom.moves.whole} disabled={!zoomed}>
          Whole step
        </button>
        {timeline.columns === null && (
          <form
            class="timeline-search"
            role="search"
            onSubmit={(event) => {
              event.preventDefault();
              next(1);
            }}
          >
            <input
              type="search"
              value={query}
              aria-label="Find in the timeline"
              placeholder="find: forward 3"
              onInput={(event) => {
                setQuery(event.currentTarget.value);
                setCurrent(-1);
              }}
            />
            <button disabled={matches.length === 0}>Next</button>
            <output aria-live="polite">
              {query.trim() && `${current >= 0 ? `${current + 1} of ` : ""}${plural(matches.length, "match", "matches")}`}
            </output>
          </form>
        )}
        <span class="quiet hint">
          ctrl or ⌘ with the wheel, or a pinch, zooms; dragging pans. Keys: + − ← → 0, lanes ↑ ↓,
          cells , .
        </span>
      </div>
      <div
        ref={element}
        class="timeline-plot"
        role="application"
        tabIndex={0}
        aria-label={`Timeline. ${timeline.summary.words.step}. Plus and minus zoom, left and right pan, 0 shows the whole step, up and down go to a PP rank, comma and full stop to a cell, Enter selects its PP rank.`}
        onKeyDown={onKeyDown}
        onBlur={() => choose(null)}
      >
        {room > 0 && (
          <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height}>
            <clipPath id="timeline-clip">
              <rect y={-2} width={room} height={height} />
            </clipPath>
            <g
              ref={zoom.plot}
              class="zoomed"
              transform={`translate(${kNames} 0)`}
              onPointerMove={onPointerMove}
              onPointerLeave={() => choose(null)}
              onClick={onClick}
            >
              <rect class="catch" width={room} height={height} />
              <Phases timeline={timeline} view={view} height={blocks[0].bottom} />
              {blocks.map((block) => (
                <>
                  {block.name && (
                    <text class="block" y={block.top - 5}>
                      {block.name}
                    </text>
                  )}
                  <Lanes
                    lanes={block.lanes}
                    kinds={timeline.kinds}
                    {...{ view, heights, lit, spot, matches }}
                    top={block.top}
                  />
                </>
              ))}
              {props.path && (
                <CriticalPath
                  lanes={blocks[0].lanes}
                  {...{ timeline, view, heights }}
                  top={blocks[0].top}
                />
              )}
              <Axis view={view} top={stage.bottom} />
            </g>
          </svg>
        )}
        <div class="hidden" aria-live="polite">
          {spot && sentence(spot)}
        </div>
      </div>
      <p class="timeline-totals">
        <b>
          {zoomed ? `${seconds(view.from)} to ${seconds(view.to)}` : "Whole step"}, all PP ranks
        </b>
        {totals.map(({ name, share: of }) => (
          <span>
            {name} {share(of)}
          </span>
        ))}
      </p>
      {room > 0 && timeline.memory && (
        <MemoryOverTime
          {...{ plan, timeline, lit, view }}
          series={timeline.memory}
          left={kNames}
          end={timeline.end * timeline.tick_seconds}
        />
      )}
    </>
  );
}
