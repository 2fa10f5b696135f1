import assert from "node:assert/strict";
import { test } from "node:test";
import { place } from "./tooltip";

const box = (left: number, top: number, width = 40, height = 20) => ({ left, top, width, height });
const own = { width: 200, height: 100 };

test("it stands above, centred, where there is room", () => {
  // Bottom at 300 - 8, centre at 400 + 20.
  assert.deepEqual(place(box(400, 300), own, 1000, 800), { left: 320, top: 192 });
});

test("near the top it stands below", () => {
  assert.equal(place(box(400, 50), own, 1000, 800).top, 50 + 20 + 8);
});

test("it stays in the window from left to right", () => {
  assert.equal(place(box(0, 300), own, 1000, 800).left, 8);
  assert.equal(place(box(980, 300), own, 1000, 800).left, 1000 - 200 - 8);
});

test("it never lies on what it is about, however high the window", () => {
  for (let height = 50; height <= 800; height += 50)
    for (let top = 0; top + 20 <= height; top += 10) {
      const at = place(box(400, top), own, 1000, height).top;
      assert(at + own.height <= top || at >= top + 20, `${top} of ${height}: tooltip at ${at}`);
    }
});

test("it is whole where it has room on either side", () => {
  for (let top = 0; top + 20 <= 800; top += 10) {
    const at = place(box(400, top), own, 1000, 800).top;
    assert(at >= 8 && at + own.height <= 800, `anchor at ${top}, tooltip at ${at}`);
  }
});
