// Two nodes of three devices: tp 2 inside a node, pp 2 across nodes, and one idle device per node.
//
//   node 0: 0 1 (pp 0), 2 idle      node 1: 3 4 (pp 1), 5 idle
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, PlanReport } from "./document";
import { type Focus, type Lit, lit, mood, nothing } from "./focus";

function device(number: number, rank: number, tp: number, pp: number): Device {
  const host = number < 3 ? 0 : 1;
  const alone = { cp: 0, dp: 0, ep: 0, etp: 0, edp: 0 };
  const collectives = rank < 0 ? [] : pp === 0 ? [0, 1, 2] : [0, 2];
  const place = { device: number, host, slot: number % 3, stands_for: 1 };
  return { ...place, rank, tp, pp, ...alone, collectives };
}

const plan = {
  ranks: {
    levels: ["nvlink", "infiniband"],
    devices: [
      device(0, 0, 0, 0),
      device(1, 1, 1, 0),
      device(2, -1, 0, 0),
      device(3, 2, 0, 1),
      device(4, 3, 1, 1),
      device(5, -1, 0, 0),
    ],
    groups: [
      { kind: "tp", level: 0, of_device: [0, 0, -1, 1, 1, -1], collectives: [0, 1] },
      { kind: "pp", level: 1, of_device: [0, 1, -1, 0, 1, -1], collectives: [2] },
    ],
  },
  explain: {
    communication: [
      { communication: "TP all-gather", group: "tp", level: "nvlink", slowest_level: "nvlink" },
      { communication: "TP reduce-scatter", group: "tp", level: "nvlink", slowest_level: "nvlink" },
      {
        communication: "PP send/recv",
        group: "pp",
        level: "infiniband",
        slowest_level: "infiniband",
      },
      // Its group exists but is not drawn.
      {
        communication: "gradient norm",
        group: "world",
        level: "infiniband",
        slowest_level: "nvlink",
      },
    ],
    estimate: {
      step: {
        items: [
          { item: "matmuls", collectives: [] },
          { item: "tp collectives", collectives: [0, 1] },
          { item: "pp sends", collectives: [2] },
        ],
      },
    },
  },
} as unknown as PlanReport;

/** Returns what is lit as text: "devices 0 1, kinds tp". */
function text(light: Lit): string {
  const { groupsOf: _, ...sets } = light;
  return Object.entries(sets)
    .filter(([, set]) => set.size > 0)
    .map(([name, set]) => `${name} ${[...set].sort().join(" ")}`)
    .join(", ");
}

const kCases: [string, Focus, string][] = [
  ["nothing lights nothing", nothing, ""],
  [
    "a device lights its groups, their collectives, and its pp rank",
    { on: "device", device: 1 },
    "devices 0 1 4, ppRanks 0, kinds pp tp, levels 0 1, items 1 2, collectives 0 1 2",
  ],
  [
    "a device and a kind light one group",
    { on: "device", device: 1, kind: "tp" },
    "devices 0 1, ppRanks 0, kinds tp, levels 0, items 1, collectives 0 1",
  ],
  [
    "a device does not light what only other pp ranks call",
    { on: "device", device: 4, kind: "tp" },
    "devices 3 4, ppRanks 1, kinds tp, levels 0, items 1, collectives 0",
  ],
  ["an idle device lights only itself", { on: "device", device: 2 }, "devices 2"],
  ["a pp rank lights its devices", { on: "pp", ppRank: 1 }, "devices 3 4, ppRanks 1"],
  ["a pp rank lights no idle device", { on: "pp", ppRank: 0 }, "devices 0 1, ppRanks 0"],
  [
    "a kind lights its members and their collectives",
    { on: "kind", kind: "pp" },
    "devices 0 1 3 4, kinds pp, levels 1, items 2, collectives 2",
  ],
  [
    "a level lights what crosses it, even if it is not their outermost level",
    { on: "level", level: 0 },
    "kinds tp world, levels 0, items 1, collectives 0 1 3",
  ],
  ["a computing item lights only itself", { on: "item", item: 0 }, "items 0"],
  [
    "an item lights its collectives, their kinds and their levels",
    { on: "item", item: 1 },
    "kinds tp, levels 0, items 1, collectives 0 1",
  ],
  [
    "a collective lights its group, its item and its level",
    { on: "collective", collective: 2 },
    "devices 0 1 3 4, kinds pp, levels 1, items 2, collectives 2",
  ],
  [
    "a collective of no item and no drawn group lights its levels",
    { on: "collective", collective: 3 },
    "kinds world, levels 0 1, collectives 3",
  ],
];

for (const [name, focus, expected] of kCases)
  test(name, () => assert.equal(text(lit(plan, focus)), expected));

test("each device lists the groups that it shares with the focused one", () => {
  const { groupsOf } = lit(plan, { on: "device", device: 0 });
  assert.deepEqual([...groupsOf].sort(), [
    [0, ["tp", "pp"]],
    [1, ["tp"]],
    [3, ["pp"]],
  ]);
});

test("the focused element itself is lit", () => {
  for (let d = 0; d < 6; ++d) assert(lit(plan, { on: "device", device: d }).devices.has(d));
  for (let r = 0; r < 2; ++r) assert(lit(plan, { on: "pp", ppRank: r }).ppRanks.has(r));
  for (let l = 0; l < 2; ++l) assert(lit(plan, { on: "level", level: l }).levels.has(l));
  for (let i = 0; i < 3; ++i) assert(lit(plan, { on: "item", item: i }).items.has(i));
  for (let c = 0; c < 4; ++c)
    assert(lit(plan, { on: "collective", collective: c }).collectives.has(c));
});

test("elements fade only if others of their type are lit", () => {
  assert.equal(mood(new Set<number>(), 0), "");
  assert.equal(mood(new Set([1]), 1), "lit");
  assert.equal(mood(new Set([1]), 0), "faded");
});
