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
  what_if: [
    {
      key: "tp",
      rows: [
        { value: "4", own: true },
        { value: "8", own: false },
      ],
    },
  ],
  explain: { estimate: { step: { items: [{}, {}] } }, communication: [{}] },
} as unknown as PlanReport;

test("a selection survives its hash", () => {
  const all: Selection[] = [
    { pinned: nothing, range: null, plan: 0, opened: -1, tried: null },
    { pinned: { on: "device", device: 1 }, range: [0.5, 2.25], plan: 1, opened: 2, tried: { setting: 0, row: 1 } },
    { pinned: { on: "device", device: 0, kind: "tp" }, range: null, plan: 0, opened: -1, tried: null },
    { pinned: { on: "pp", ppRank: 1 }, range: [1e-7, 2e-7], plan: 0, opened: -1, tried: null },
    { pinned: { on: "kind", kind: "tp" }, range: null, plan: 0, opened: -1, tried: null },
    { pinned: { on: "level", level: 0 }, range: null, plan: 0, opened: -1, tried: null },
    { pinned: { on: "item", item: 1 }, range: null, plan: 0, opened: -1, tried: null },
    { pinned: { on: "collective", collective: 0 }, range: null, plan: 0, opened: -1, tried: null },
  ];
  for (const one of all) assert.deepEqual(parseHash(formatHash(one, [plan, plan]), [plan, plan]), one);
});

test("a hash that the plan does not have selects nothing", () => {
  for (const hash of ["#step", "#on=device:2", "#on=pp:7", "#on=group:ep", "#on=x:1", "#t=3-1", "#t=a-b", "#plan=5", "#open=3", "#open=x", "#try=tp:2", "#try=tp:4", "#try=pp:8", "#try=tp", "#on=device:-1"])
    assert.deepEqual(parseHash(hash, [plan]), { pinned: nothing, range: null, plan: 0, opened: -1, tried: null }, hash);
});
