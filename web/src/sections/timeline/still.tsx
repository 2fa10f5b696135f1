import { useMemo } from "preact/hooks";
import type { PlanReport } from "../../document";
import { lit, nothing } from "../../focus";
import { useWidth } from "../../width";
import { Axis, Lanes } from "./chart";
import { stageOf } from "./stage";
import type { View } from "./time";
import "./timeline.css";

const kNames = 40; // pixels for the names of the lanes
const kAxis = 22;

/** A timeline without interaction, from 0 to `end` seconds, to be compared with another. */
export function StillTimeline(props: {
  plan: PlanReport;
  end: number;
  name: string;
  clip: string; // an ID that no other drawing of the page has
}) {
  const { plan, end } = props;
  const { element, width } = useWidth<HTMLDivElement>();
  const stage = useMemo(() => plan.timeline && stageOf(plan, plan.timeline), [plan]);
  const dark = useMemo(() => lit(plan, nothing), [plan]);
  const room = Math.max(0, width - kNames - 1);
  const view: View = useMemo(() => ({ from: 0, to: end, width: room }), [end, room]);
  if (!plan.timeline || !stage) return <p>The step has too many cells to simulate.</p>;
  const [block] = stage.blocks;
  const height = block.bottom - block.top + kAxis;
  return (
    <div ref={element} class="timeline-plot still" role="img" aria-label={props.name}>
      {room > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height}>
          <clipPath id={props.clip}>
            <rect y={-2} width={room} height={height} />
          </clipPath>
          <g transform={`translate(${kNames} 0)`}>
            <Lanes
              lanes={block.lanes}
              kinds={plan.timeline.kinds}
              {...{ view, heights: stage.heights, lit: dark, spot: null }}
              top={0}
              clip={props.clip}
            />
            <Axis view={view} top={block.bottom - block.top} />
          </g>
        </svg>
      )}
    </div>
  );
}
