import assert from "node:assert/strict";
import { test } from "node:test";
import type { Point } from "../../document";
import { frontOf, kGiB, rangeOf, scalesOf, spotOf } from "./scales";

function point(role: Point["role"], step: number, gib: number, fits = true): Point {
  const words = { change: "", brief: "", because: "", file: "", difference: 0 };
  return { role, step_seconds: step, memory_bytes: gib * kGiB, fits, ...words };
}

test("the axis begins near the least, not at 0", () => {
  // 4 to 6, and 6 % of 2 on both sides
  assert.deepEqual(
    rangeOf([point("this", 6, 50), point("best", 4, 60)], "step_seconds").map((s) => s.toFixed(2)),
    ["3.88", "6.12"],
  );
});

test("the limit is seen though nothing comes near it", () => {
  const [, most] = rangeOf([point("this", 6, 20), point("best", 4, 30)], "memory_bytes", 80 * kGiB);
  assert.ok(most > 80 * kGiB);
});

test("one point has a range too", () => {
  const [least, most] = rangeOf([point("this", 6, 50)], "step_seconds");
  assert.ok(least < 6 && most > 6);
});

test("a neighbour that is far worse stands at the edge and says so", () => {
  const points = [point("this", 6, 50), point("best", 4, 60), point("neighbour", 60, 50)];
  const steps = rangeOf(points, "step_seconds");
  const memories = rangeOf(points, "memory_bytes", 80 * kGiB);
  assert.ok(steps[1] < 8.5); // 1.3 x 6, and the margin
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
  const { xTicks } = scalesOf([30 * kGiB, 82 * kGiB], [1, 2], 500, 300);
  assert.deepEqual(
    xTicks.map((tick) => tick / kGiB),
    [30, 40, 50, 60, 70, 80],
  );
});

test("the front goes through what nothing beats that fits", () => {
  const points = [
    point("this", 7, 40),
    point("best", 4, 70),
    point("front", 5, 50),
    point("front", 5.5, 60), // slower than the one before it
    point("tie", 3, 90, false),
    point("front", 6, 45),
  ];
  assert.deepEqual(frontOf(points), [5, 2, 1]);
});
