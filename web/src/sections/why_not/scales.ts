// Maps bytes and seconds to the drawing, as in rankwright/report/page/why_not_svg.cc: a range of many
// times its low end is logarithmic. Points far worse than any that could be chosen are clamped to the
// edge, with their value, so that they do not squeeze the others into a corner.
import { scaleLinear, scaleLog } from "d3-scale";
import type { Point } from "../../document";
import { memoryUnit } from "../../format";

const kFar = 1.3; // times the worst point that could be chosen
const kMargin = 0.07; // of the range, so that no mark is on an axis
const kLogarithmic = 3; // a range of more than this many times its low end
const kMarginLog = 1.2; // times, at both ends of such a range

/** The minimum and maximum that are drawn. */
export interface Range {
  low: number;
  high: number;
  log: boolean;
}

/** Returns the range of the values. `most` must be visible too, such as the limit. */
export function rangeOf(points: Point[], key: "step_seconds" | "memory_bytes", most = 0): Range {
  const chosen = points.filter((point) => point.role !== "neighbour");
  const worst = Math.max(most, ...chosen.map((point) => point[key]));
  const values = [...points.map((point) => Math.min(point[key], kFar * worst)), worst];
  if (most > 0) values.push(most);
  const least = Math.min(...values);
  const largest = Math.max(...values);
  if (least > 0 && largest / least > kLogarithmic)
    return { low: least / kMarginLog, high: largest * kMarginLog, log: true };
  const margin = kMargin * (largest - least || largest || 1);
  return { low: Math.max(0, least - margin), high: largest + margin, log: false };
}

export interface Spot {
  x: number;
  y: number;
  right: boolean; // beyond the right edge
  above: boolean; // beyond the upper edge
}

export interface Scales {
  x: (bytes: number) => number;
  y: (seconds: number) => number;
  xTicks: number[]; // bytes, round in the unit that they are written in
  yTicks: number[]; // seconds
}

/** Returns the scales for a drawing of this size; faster steps are lower. */
export function scalesOf(memory: Range, step: Range, width: number, height: number): Scales {
  const unit = memoryUnit(memory.high);
  const units = { ...memory, low: memory.low / unit, high: memory.high / unit };
  const x = scaled(units, [0, width]);
  const y = scaled(step, [height, 0]);
  return {
    x: (bytes) => x(bytes / unit),
    y: (seconds) => y(seconds),
    xTicks: ticks(units, 2, Math.max(3, width / 90)).map((tick) => tick * unit),
    yTicks: ticks(step, 10, Math.max(3, height / 60)),
  };
}

function scaled({ low, high, log }: Range, pixels: [number, number]) {
  return log ? scaleLog([low, high], pixels) : scaleLinear([low, high], pixels);
}

/** Returns about `most` round values; in a logarithmic range evenly spaced and round multiples of powers
 * of `base`. */
function ticks({ low, high, log }: Range, base: number, most: number): number[] {
  if (!log) return scaleLinear([low, high], [0, 1]).ticks(most);
  const apart = Math.log(high / low) / most;
  const found: number[] = [];
  const first = base ** Math.floor(Math.log(low) / Math.log(base));
  for (let power = first; power <= high; power *= base)
    for (const tick of kRound.filter((factor) => factor < base).map((factor) => factor * power)) {
      const near = found.length > 0 && Math.log(tick / found[found.length - 1]) < apart;
      if (tick >= low && tick <= high && !near) found.push(tick);
    }
  return found;
}

const kRound = [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];

const kEdge = 18; // pixels between the edge and a clamped point: room for an arrow

export function spotOf(point: Point, scales: Scales, memory: Range, step: Range): Spot {
  const right = point.memory_bytes > memory.high;
  const above = point.step_seconds > step.high;
  return {
    x: right ? scales.x(memory.high) - kEdge : scales.x(point.memory_bytes),
    y: above ? scales.y(step.high) + kEdge : scales.y(point.step_seconds),
    right,
    above,
  };
}

/** Returns the indices of the Pareto front, for any role: the fitting points for which no other is faster
 * with at most the same memory, smallest memory first. */
export function frontOf(points: Point[]): number[] {
  const order = points
    .map((_, i) => i)
    .filter((i) => points[i].fits)
    .sort(
      (a, b) =>
        points[a].memory_bytes - points[b].memory_bytes ||
        points[a].step_seconds - points[b].step_seconds,
    );
  let fastest = Infinity;
  return order.filter((i) => {
    if (points[i].step_seconds >= fastest) return false;
    fastest = points[i].step_seconds;
    return true;
  });
}
