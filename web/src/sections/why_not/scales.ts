// From bytes and seconds to the drawing. What is far worse than anything that could be chosen would
// press all else into a corner: it stands at the edge, with its figure.
import { scaleLinear } from "d3-scale";
import type { Point } from "../../document";

export const kGiB = 2 ** 30;
const kFar = 1.3; // times the worst of what could be chosen
const kMargin = 0.06; // of the range, so that no mark lies on an axis

/** Least and most that are drawn. */
export type Range = [number, number];

/** `most`: what must be seen too, such as the limit. */
export function rangeOf(points: Point[], key: "step_seconds" | "memory_bytes", most = 0): Range {
  const chosen = points.filter((point) => point.role !== "neighbour");
  const worst = Math.max(most, ...chosen.map((point) => point[key]));
  const values = [...points.map((point) => Math.min(point[key], kFar * worst)), worst];
  const least = Math.min(...values);
  const largest = Math.max(...values);
  const margin = kMargin * (largest - least || largest || 1);
  return [Math.max(0, least - margin), largest + margin];
}

export interface Spot {
  x: number;
  y: number;
  right: boolean; // it lies beyond the right edge
  above: boolean; // ... the upper edge
}

export interface Scales {
  x: (bytes: number) => number;
  y: (seconds: number) => number;
  xTicks: number[]; // bytes, round in GiB
  yTicks: number[]; // seconds
}

/** On so many pixels; the lower the step, the lower the mark. */
export function scalesOf(memory: Range, step: Range, width: number, height: number): Scales {
  const gib = scaleLinear([memory[0] / kGiB, memory[1] / kGiB], [0, width]);
  const y = scaleLinear(step, [height, 0]);
  return {
    x: (bytes) => gib(bytes / kGiB),
    y: (seconds) => y(seconds),
    xTicks: gib.ticks(Math.max(3, width / 90)).map((tick) => tick * kGiB),
    yTicks: y.ticks(Math.max(3, height / 60)),
  };
}

const kEdge = 18; // pixels between the edge and what lies beyond it: room for an arrow

export function spotOf(point: Point, scales: Scales, memory: Range, step: Range): Spot {
  const right = point.memory_bytes > memory[1];
  const above = point.step_seconds > step[1];
  return {
    x: right ? scales.x(memory[1]) - kEdge : scales.x(point.memory_bytes),
    y: above ? scales.y(step[1]) + kEdge : scales.y(point.step_seconds),
    right,
    above,
  };
}

/** Indices of the points that the front goes through: from the least memory on, each faster. */
export function frontOf(points: Point[]): number[] {
  const order = points
    .map((_, i) => i)
    .filter((i) => points[i].fits && ["front", "best", "tie"].includes(points[i].role))
    .sort((a, b) => points[a].memory_bytes - points[b].memory_bytes);
  let fastest = Infinity;
  return order.filter((i) => {
    if (points[i].step_seconds >= fastest) return false;
    fastest = points[i].step_seconds;
    return true;
  });
}
