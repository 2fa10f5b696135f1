import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlanReport } from "./document";
import { nothing } from "./focus";
import { formatHash, parseHash, type Selection } from "./selection";

const plan = {
  ranks: {
    devices: [{ pp: 0 }, { pp: 1 }],
    groups: [{ kind: "tp" }],
    levels: ["nvlink"],
  },
  why_not: { points: [{}, {}, {}] },
  explain: { estimate: { step: { items: [{}, {}] } }, communication: [{}] },
} as unknown as PlanReport;

test("a selection survives its hash", () => {
  const all: Selection[] = [
    { pinned: nothing, range: null, plan: 0, opened: -1 },
    { pinned: { on: "device", device: 1 }, range: [0.5, 2.25], plan: 1, opened: 2 },
    { pinned: { on: "device", device: 0, kind: "tp" }, range: null, plan: 0, opened: -1 },
    { pinned: { on: "pp", ppRank: 1 }, range: [1e-7, 2e-7], plan: 0, opened: -1 },
    { pinned: { on: "kind", kind: "tp" }, range: null, plan: 0, opened: -1 },
    { pinned: { on: "level", level: 0 }, range: null, plan: 0, opened: -1 },
    { pinned: { on: "item", item: 1 }, range: null, plan: 0, opened: -1 },
    { pinned: { on: "collective", collective: 0 }, range: null, plan: 0, opened: -1 },
  ];
  for (const one of all) assert.deepEqual(parseHash(formatHash(one), [plan, plan]), one);
});

test("a hash that the plan does not have selects nothing", () => {
  for (const hash of ["#step", "#on=device:2", "#on=pp:7", "#on=group:ep", "#on=x:1", "#t=3-1", "#t=a-b", "#plan=5", "#open=3", "#open=x", "#on=device:-1"])
    assert.deepEqual(parseHash(hash, [plan]), { pinned: nothing, range: null, plan: 0, opened: -1 }, hash);
});
