import type { MemorySeries, PlanReport, Timeline } from "../../document";
import { memory, memoryOf } from "../../format";
import type { Lit } from "../../focus";
import { toPixel, type View } from "./time";

const kHeight = 84; // pixels
const kTop = 16;

/** The memory of one pp rank over the visible time: the one that is pointed at or pinned, else the
 * fullest. */
export function MemoryOverTime(props: {
  plan: PlanReport;
  timeline: Timeline;
  series: MemorySeries;
  lit: Lit;
  view: View;
  left: number; // pixels of the lanes' names
  end: number; // of the step, in seconds
}) {
  const { timeline, series, view, left } = props;
  const estimate = props.plan.explain.estimate.memory;
  const lit = [...props.lit.ppRanks][0] ?? estimate?.pp_rank ?? 0;
  const row = Math.max(0, timeline.rows.findIndex((one) => one.pp_rank === lit));
  const ppRank = timeline.rows[row].pp_rank;
  const values = series.rows[row].map((units) => units * series.unit_bytes);
  const capacity = estimate?.capacity_bytes ?? 0;
  const peak = Math.max(...values);
  const most = 1.04 * Math.max(peak, capacity);
  const y = (bytes: number) => kTop + (kHeight - kTop) * (1 - bytes / most);
  const bottom = kHeight;
  const x = (part: number) =>
    Math.max(-2, Math.min(view.width + 2, toPixel(view, (part * props.end) / series.count)));
  const path = values
    .map((bytes, p) => `${p === 0 ? "M" : "L"}${x(p).toFixed(1)} ${y(bytes).toFixed(1)}H${x(p + 1).toFixed(1)}`)
    .join("");
  const words =
    `Memory of PP rank ${ppRank} over time: the activations that it holds, on top of everything ` +
    `else at its peak. Peak ${capacity > 0 ? memoryOf(peak, capacity) : memory(peak)}.`;
  return (
    <figure class="memory-over-time">
      <figcaption>{words}</figcaption>
      <svg
        viewBox={`0 0 ${left + view.width + 1} ${kHeight + 2}`}
        width={left + view.width + 1}
        height={kHeight + 2}
        role="img"
        aria-label={words}
      >
        <g transform={`translate(${left} 0)`}>
          <clipPath id="memory-clip">
            <rect width={view.width} height={kHeight + 2} />
          </clipPath>
          <g clip-path="url(#memory-clip)">
            <path class="area" d={`${path}V${bottom}H${x(0)}Z`} />
            <path class="edge" d={path} />
          </g>
          <path class="base" d={`M0 ${bottom}H${view.width}`} />
          {capacity > 0 && (
            <g class="limit">
              <path d={`M0 ${y(capacity)}H${view.width}`} />
              <text x={view.width} y={y(capacity) - 4} text-anchor="end">
                {memory(capacity)}
              </text>
            </g>
          )}
          <text x={-6} y={y(peak) + 4} text-anchor="end">
            {memory(peak).split("\u00a0")[0]}
          </text>
        </g>
      </svg>
    </figure>
  );
}
