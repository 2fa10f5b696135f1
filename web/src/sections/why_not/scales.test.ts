import assert from "node:assert/strict";
import { test } from "node:test";
import type { Point } from "../../document";
import { frontOf, rangeOf, scalesOf, spotOf } from "./scales";

const kGiB = 2 ** 30;
const kMiB = 2 ** 20;

function point(role: Point["role"], step: number, gib: number, fits = true): Point {
  const words = { change: "", brief: "", because: "", file: "", difference: 0 };
  return { role, step_seconds: step, memory_bytes: gib * kGiB, fits, ...words };
}

test("the axis begins near the minimum, not at 0", () => {
  // 4 to 6, and 7 % of 2 on both sides
  const { low, high } = rangeOf([point("this", 6, 50), point("best", 4, 60)], "step_seconds");
  assert.deepEqual([low.toFixed(2), high.toFixed(2)], ["3.86", "6.14"]);
});

test("the limit is visible even if no point is near it", () => {
  const points = [point("this", 6, 20), point("best", 4, 30)];
  assert.ok(rangeOf(points, "memory_bytes", 80 * kGiB).high > 80 * kGiB);
});

test("a single point has a range", () => {
  const { low, high } = rangeOf([point("this", 6, 50)], "step_seconds");
  assert.ok(low < 6 && high > 6);
});

test("a far worse neighbor is clamped to the edge and marked", () => {
  const points = [point("this", 6, 50), point("best", 4, 60), point("neighbour", 60, 50)];
  const steps = rangeOf(points, "step_seconds");
  const memories = rangeOf(points, "memory_bytes", 80 * kGiB);
  assert.ok(steps.high < 8.5); // 1.3 x 6, plus the margin
  const scales = scalesOf(memories, steps, 800, 400);
  const spots = points.map((p) => spotOf(p, scales, memories, steps));
  assert.deepEqual(
    spots.map((spot) => spot.above),
    [false, false, true],
  );
  assert.ok(spots[2].y > 0 && spots[2].y < spots[0].y);
  assert.ok(spots[1].y > spots[0].y, "the faster is lower");
});

test("memory is round in GiB", () => {
  const memories = { low: 30 * kGiB, high: 82 * kGiB, log: false };
  const { xTicks } = scalesOf(memories, { low: 1, high: 2, log: false }, 500, 300);
  assert.deepEqual(
    xTicks.map((tick) => tick / kGiB),
    [30, 40, 50, 60, 70, 80],
  );
});

test("plans that use little of a large device are distinguishable", () => {
  // of examples/gpt2-tiny-tp2-pp2-dp2.yaml: 5 to 24 MiB on a device of 3.73 GiB
  const points = [point("this", 6, 5 / 1024), point("best", 4, 24 / 1024)];
  const memories = rangeOf(points, "memory_bytes", 3.73 * kGiB);
  const steps = rangeOf(points, "step_seconds");
  const scales = scalesOf(memories, steps, 900, 400);
  const [few, more] = points.map((p) => spotOf(p, scales, memories, steps).x);
  assert.ok(more - few > 150, `${more - few} pixels`);
  const written = scales.xTicks.map((tick) => tick / kMiB);
  assert.equal(new Set(written).size, written.length);
  assert.deepEqual(written.slice(0, 3), [6, 16, 48]);
});

test("the front goes through all fitting points that none dominates", () => {
  const points = [
    point("this", 7, 40),
    point("best", 4, 70),
    point("front", 5, 50),
    point("front", 5.5, 60), // slower than the one before it
    point("tie", 3, 90, false),
    point("front", 6, 45),
    point("neighbour", 8, 30),
    point("neighbour", 9, 40), // as much memory as this plan, and slower
  ];
  assert.deepEqual(frontOf(points), [6, 0, 5, 2, 1]);
});
