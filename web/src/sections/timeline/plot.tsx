import { useMemo, useState } from "preact/hooks";
import type { Timeline } from "../../document";
import { nothing, type SectionProps } from "../../focus";
import { hideTip, showTip } from "../../tooltip";
import { useWidth } from "../../width";
import { heightOf } from "./cells";
import { Axis, CriticalPath, Lanes, Phases } from "./chart";
import { hit, kSteps, stageOf, stepped, topOf } from "./stage";
import { toPixel, type View } from "./time";
import { Facts, sentence, type Spot, timesOf } from "./words";
import { useZoom } from "./zoom";

const kNames = 40; // pixels for the names of the lanes
const kAxis = 22; // pixels for the times

/** The lanes with their names and axis, and pointer and key handling. */
export function Plot(props: SectionProps & { timeline: Timeline; path: boolean }) {
  const { plan, timeline, lit, point } = props;
  const { element, width } = useWidth<HTMLDivElement>();
  const room = Math.max(0, width - kNames - 1);
  const zoom = useZoom(room);
  const [spot, setSpot] = useState<Spot | null>(null);
  const stage = useMemo(() => stageOf(plan, timeline), [plan, timeline]);
  const { heights, blocks } = stage;
  const { from, to } = zoom.seen;
  const view: View = useMemo(
    () => ({ from: from * stage.end, to: to * stage.end, width: room }),
    [from, to, stage, room],
  );
  const height = stage.bottom + kAxis;

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
  const onPointerMove = (event: MouseEvent) => {
    if (event.buttons > 0) return choose(null);
    const own = zoom.plot.current!.getScreenCTM()!;
    choose(hit(stage, view, event.clientX - own.e, event.clientY - own.f));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = kSteps[event.key];
    const next = step && stepped(stage, view, spot, step);
    if (next) {
      choose(next);
      const { begin, end } = timesOf(next);
      if (end < view.from || begin > view.to) zoom.bring((begin + end) / 2 / stage.end);
    } else if (zoom.keys[event.key]) zoom.keys[event.key]();
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
        <button type="button" onClick={zoom.moves.whole} disabled={from <= 0 && to >= 1}>
          Whole step
        </button>
        <span class="quiet">
          ctrl or ⌘ with the wheel, or a pinch, zooms; dragging pans. Keys: + − ← → 0, lanes ↑ ↓,
          cells , .
        </span>
      </div>
      <div
        ref={element}
        class="timeline-plot"
        role="application"
        tabIndex={0}
        aria-label={`Timeline. ${timeline.summary.words.step}. Plus and minus zoom, left and right pan, 0 shows the whole step, up and down go to a pp rank, comma and full stop to a cell.`}
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
              onClick={onPointerMove}
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
                    {...{ view, heights, lit, spot }}
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
    </>
  );
}
