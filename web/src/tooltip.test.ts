import assert from "node:assert/strict";
import { test } from "node:test";
import { place } from "./tooltip";

const box = (left: number, top: number, width = 40, height = 20) => ({ left, top, width, height });
const own = { width: 200, height: 100 };

test("placed above and centered if there is room", () => {
  // Bottom at 300 - 8, center at 400 + 20.
  assert.deepEqual(place(box(400, 300), own, 1000, 800), { left: 320, top: 192 });
});

test("placed below near the top", () => {
  assert.equal(place(box(400, 50), own, 1000, 800).top, 50 + 20 + 8);
});

test("stays inside the window horizontally", () => {
  assert.equal(place(box(0, 300), own, 1000, 800).left, 8);
  assert.equal(place(box(980, 300), own, 1000, 800).left, 1000 - 200 - 8);
});

test("never covers its anchor", () => {
  for (let height = 50; height <= 800; height += 50)
    for (let top = 0; top + 20 <= height; top += 10) {
      const at = place(box(400, top), own, 1000, height).top;
      assert(at + own.height <= top || at >= top + 20, `${top} of ${height}: tooltip at ${at}`);
    }
});

test("fully visible if there is room on either side", () => {
  for (let top = 0; top + 20 <= 800; top += 10) {
    const at = place(box(400, top), own, 1000, 800).top;
    assert(at >= 8 && at + own.height <= 800, `anchor at ${top}, tooltip at ${at}`);
  }
});
