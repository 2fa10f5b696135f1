import assert from "node:assert/strict";
import { test } from "node:test";
import { moved } from "./roving";

test("arrows move by one and stop at the ends", () => {
  assert.equal(moved(0, "ArrowDown", 3), 1);
  assert.equal(moved(1, "ArrowRight", 3), 2);
  assert.equal(moved(2, "ArrowDown", 3), 2);
  assert.equal(moved(1, "ArrowUp", 3), 0);
  assert.equal(moved(0, "ArrowLeft", 3), 0);
});

test("Home and End go to the ends", () => {
  assert.equal(moved(64, "Home", 128), 0);
  assert.equal(moved(0, "End", 128), 127);
});

test("other keys are not handled", () => {
  for (const key of ["Tab", "Enter", " ", "a"]) assert.equal(moved(1, key, 3), -1);
});
