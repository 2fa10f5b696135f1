import assert from "node:assert/strict";
import { test } from "node:test";
import { type Spot, toward } from "./compass";

// 0 1 2
// 3 4 5
const kGrid: Spot[] = [0, 1, 2, 3, 4, 5].map((i) => ({
  x: (i % 3) * 10,
  y: Math.floor(i / 3) * 10,
}));

test("arrows follow rows and columns, and stay at the edge", () => {
  assert.equal(toward(kGrid, 0, "ArrowRight"), 1);
  assert.equal(toward(kGrid, 4, "ArrowLeft"), 3);
  assert.equal(toward(kGrid, 1, "ArrowDown"), 4);
  assert.equal(toward(kGrid, 5, "ArrowUp"), 2);
  assert.equal(toward(kGrid, 2, "ArrowRight"), 2);
  assert.equal(toward(kGrid, 0, "ArrowUp"), 0);
});

test("a distant row is reached", () => {
  const spots = [
    { x: 0, y: 0 },
    { x: 3, y: 50 },
    { x: 40, y: 50 },
  ];
  assert.equal(toward(spots, 0, "ArrowDown"), 1);
});

test("Home and End go to the ends, other keys are not handled", () => {
  assert.equal(toward(kGrid, 4, "Home"), 0);
  assert.equal(toward(kGrid, 1, "End"), 5);
  for (const key of ["Tab", "Enter", "+"]) assert.equal(toward(kGrid, 1, key), -1);
});

test("items on one spot are visited one by one", () => {
  const spots = [
    { x: 0, y: 0 },
    { x: 5, y: 0 },
    { x: 5, y: 0 },
    { x: 9, y: 0 },
  ];
  assert.equal(toward(spots, 1, "ArrowRight"), 2);
  assert.equal(toward(spots, 2, "ArrowRight"), 3);
  assert.equal(toward(spots, 2, "ArrowLeft"), 1);
  assert.equal(toward(spots, 1, "ArrowLeft"), 0);
});
