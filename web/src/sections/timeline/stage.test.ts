import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlanReport, Timeline, TimelineEvent } from "../../document";
import { heightOf } from "./cells";
import { hit, kSteps, stageOf, stepped, topOf } from "./stage";
import type { View } from "./time";

const kView: View = { from: 0, to: 10, width: 1000 };

/** Two pp ranks with three cells of 2 s each, one second apart, and one overlapped event. */
function timeline(): Timeline {
  const cells: TimelineEvent[] = [0, 1, 2].map((m) => [m * 30, 20, 0, 0, 0, m]);
  const beside: TimelineEvent = [0, 10, 0, 1, -1, 0];
  return {
    summary: { phases: [] } as unknown as Timeline["summary"],
    words: "",
    kinds: [{ name: "forward", category: "", colors: ["#000000"] }],
    steps: ["all-reduce"],
    tick_seconds: 0.1,
    end: 100,
    rows: [
      { pp_rank: 0, events: cells },
      { pp_rank: 1, events: [...cells, beside] },
    ],
    path: [],
    memory: null,
  columns: null,
  };
}
function plan(measured: boolean): PlanReport {
  const { rows, tick_seconds, steps } = timeline();
  const run = { name: "run", words: "", tick_seconds, steps, rows, end: 120 };
  return { measured: measured ? run : null } as PlanReport;
}

test("prediction and run share one scale, that of the longer", () => {
  assert.equal(stageOf(plan(false), timeline()).end, 10);
  assert.equal(stageOf(plan(true), timeline()).end, 12);
});

test("lanes are stacked, those of a run below the prediction's", () => {
  const stage = stageOf(plan(true), timeline());
  const tops = stage.blocks.flatMap((b) => b.lanes).map((lane) => topOf(stage, lane));
  assert.equal(tops.length, 4);
  for (let i = 1; i < tops.length; ++i) assert.ok(tops[i] - tops[i - 1] >= heightOf(stage.heights));
  assert.ok(stage.bottom >= tops[3] + heightOf(stage.heights));
});

test("the pointer finds cells, and overlapped events below them", () => {
  const stage = stageOf(plan(false), timeline());
  const lane = stage.blocks[0].lanes[1];
  const top = topOf(stage, lane);
  // microbatch 1 is from 3 s to 5 s: 300 to 500 of 1,000 pixels
  assert.equal(hit(stage, kView, 400, top + 2)!.index, 1);
  assert.equal(hit(stage, kView, 50, top + stage.heights.cells + 1)!.index, 3);
  assert.equal(hit(stage, kView, 250, top + 2), null, "idle");
  assert.equal(hit(stage, kView, 400, 1), null, "above the lanes");
});

test("keys move from cell to cell and stop at the last", () => {
  const stage = stageOf(plan(false), timeline());
  const first = stepped(stage, kView, null, kSteps["."])!;
  assert.deepEqual([first.lane.ppRank, first.index], [0, 0]);
  const second = stepped(stage, kView, first, kSteps["."])!;
  assert.equal(second.index, 1);
  const third = stepped(stage, kView, second, kSteps["."])!;
  assert.equal(stepped(stage, kView, third, kSteps["."])!.index, 2);
  assert.equal(stepped(stage, kView, first, kSteps[","])!.index, 0);
});

test("keys move from lane to lane, to the first visible cell", () => {
  const stage = stageOf(plan(false), timeline());
  const later = { from: 4, to: 8, width: 1000 };
  const first = stepped(stage, later, null, kSteps.ArrowDown)!;
  const next = stepped(stage, later, first, kSteps.ArrowDown)!;
  assert.deepEqual([next.lane.ppRank, next.index], [1, 1]); // the one until 5 s
  assert.equal(stepped(stage, later, next, kSteps.ArrowDown)!.lane.ppRank, 1);
});
