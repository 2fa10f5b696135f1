import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, Lane } from "./lanes";
import { findEvents } from "./search";
import { totalsIn } from "./totals";

const kinds = [
  { name: "forward", category: "forward", colors: ["#000000"] },
  { name: "collective", category: "collective", colors: ["#000000"] },
];
const cell = (begin: number, microbatch: number, stage: number): Event => ({
  begin,
  end: begin + 1,
  kind: 0,
  shade: 0,
  stage,
  microbatch,
  step: "",
  beside: false,
});
const reduce: Event = { ...cell(2, -1, -1), kind: 1, step: "DP all-reduce", beside: true };
const lanes: Lane[] = [
  { ppRank: 0, end: 4, events: [cell(0, 1, 0), cell(1, 11, 0), reduce], parts: [] },
  { ppRank: 1, end: 4, events: [cell(2, 1, 1)], parts: [] },
];
const found = (query: string) =>
  findEvents(lanes, kinds, query).map(({ lane, index }) => [lane.ppRank, index]);

test("words find cells, and numbers are whole words", () => {
  assert.deepEqual(found("micro-batch 1"), [[0, 0], [1, 0]]);
  assert.deepEqual(found("forward 11"), [[0, 1]]);
  assert.deepEqual(found("ALL-reduce"), [[0, 2]]);
  assert.deepEqual(found("stage 1"), [[1, 0]]);
  assert.deepEqual(found("backward"), []);
  assert.deepEqual(found("  "), []);
});

test("totals of a range add up to it, and overlapped events do not count", () => {
  const totals = totalsIn(lanes, kinds, 0, 4);
  assert.deepEqual(totals, [
    { name: "forward", share: 3 / 8 },
    { name: "idle", share: 5 / 8 },
  ]);
  const part = totalsIn(lanes, kinds, 0.5, 1.5);
  assert.deepEqual(part, [
    { name: "forward", share: 0.5 },
    { name: "idle", share: 0.5 },
  ]);
});

test("totals of columns are weighted by their overlap with the range", () => {
  const lane: Lane = { ppRank: 0, end: 2, events: [], parts: [[100, 0], [0, 50]] };
  assert.deepEqual(totalsIn([lane], kinds, 0.5, 1.5), [
    { name: "forward", share: 0.5 },
    { name: "collective", share: 0.25 },
    { name: "idle", share: 0.25 },
  ]);
});
