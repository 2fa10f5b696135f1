// The positions of a timeline's lanes, and hit-testing for pointer and keys.
import type { Kind, PlanReport, Timeline } from "../../document";
import { type Heights, heightOf } from "./cells";
import { eventAt, type Lane, measuredLanes, predictedLanes } from "./lanes";
import { toSeconds, type View } from "./time";
import { type Spot, spotOf } from "./words";

export const kPhases = 20; // pixels for the names of the phases
const kApart = 18; // pixels between prediction and run, with the run's name
const kReach = 4; // pixels within which a short cell is hit

/** The vertical layout, which zooming does not change. */
export interface Stage {
  kinds: Kind[];
  end: number; // seconds: of the longer of the two
  heights: Heights;
  blocks: { lanes: Lane[]; name: string; top: number; bottom: number }[]; // prediction, run
  bottom: number;
}

export function stageOf(plan: PlanReport, timeline: Timeline): Stage {
  const predicted = predictedLanes(timeline);
  const measured = plan.measured ? measuredLanes(plan.measured) : [];
  const lanes = [...predicted, ...measured];
  const heights = heightsFor(predicted.length, lanes);
  const pitch = heightOf(heights) + heights.gap;
  const top = kPhases;
  const bottom = top + predicted.length * pitch;
  const blocks = [{ lanes: predicted, name: "", top, bottom }];
  if (plan.measured) {
    const below = bottom + kApart;
    const end = below + measured.length * pitch;
    blocks.push({ lanes: measured, name: "measured", top: below, bottom: end });
  }
  return {
    kinds: timeline.kinds,
    end: Math.max(...lanes.map((lane) => lane.end)),
    heights,
    blocks,
    bottom: blocks[blocks.length - 1].bottom,
  };
}

/** Returns heights that shrink with the number of lanes: 4 are easy to read, 128 still visible at once. */
function heightsFor(count: number, lanes: Lane[]): Heights {
  const cells = count <= 8 ? 26 : count <= 16 ? 18 : count <= 32 ? 12 : count <= 64 ? 7 : 4;
  const beside = lanes.some((lane) => lane.events.some((event) => event.beside));
  return {
    cells,
    beside: beside ? Math.max(2, Math.round(cells / 5)) : 0,
    gap: cells > 10 ? 4 : 1,
  };
}

/** Returns the pixels above a lane. */
export function topOf(stage: Stage, lane: Lane): number {
  const block = stage.blocks.find((b) => b.lanes.includes(lane))!;
  const pitch = heightOf(stage.heights) + stage.heights.gap;
  return block.top + block.lanes.indexOf(lane) * pitch;
}

/** Returns what is at a position in pixels; null if nothing. */
export function hit(stage: Stage, view: View, x: number, y: number): Spot | null {
  const pitch = heightOf(stage.heights) + stage.heights.gap;
  const block = stage.blocks.find((b) => y >= b.top && y < b.bottom);
  const lane = block?.lanes[Math.floor((y - block.top) / pitch)];
  if (!block || !lane || x < 0 || x > view.width) return null;
  const seconds = toSeconds(view, x);
  if (lane.parts.length > 0) {
    const part = Math.floor((seconds / lane.end) * lane.parts.length);
    return spotOf(lane, Math.min(part, lane.parts.length - 1), stage.kinds);
  }
  const reach = (kReach / view.width) * (view.to - view.from);
  const low = (y - block.top) % pitch >= stage.heights.cells;
  const index = eventAt(lane, seconds, reach, low && stage.heights.beside > 0);
  return index < 0 ? null : spotOf(lane, index, stage.kinds);
}

interface Steps {
  lanes: number;
  cells: number;
}
/** The step of each key. */
export const kSteps: Record<string, Steps> = {
  ArrowDown: { lanes: 1, cells: 0 },
  ArrowUp: { lanes: -1, cells: 0 },
  ".": { lanes: 0, cells: 1 },
  ",": { lanes: 0, cells: -1 },
};

/** Moves from one cell to another; to the first visible one from none, or in another lane. */
export function stepped(stage: Stage, view: View, from: Spot | null, by: Steps): Spot | null {
  const lanes = stage.blocks.flatMap((block) => block.lanes);
  const now = from ? lanes.indexOf(from.lane) : -1;
  const lane = now < 0 ? lanes[0] : lanes[clamp(now + by.lanes, lanes.length)];
  const count = lane.parts.length || lane.events.length;
  if (count === 0) return null;
  if (lane === from?.lane && by.lanes === 0)
    return spotOf(lane, clamp(from.index + by.cells, count), stage.kinds);
  const seen =
    lane.parts.length > 0
      ? Math.floor((view.from / lane.end) * count)
      : lane.events.findIndex((event) => event.end > view.from);
  return spotOf(lane, clamp(seen, count), stage.kinds);
}

const clamp = (i: number, count: number) => Math.max(0, Math.min(count - 1, i));
