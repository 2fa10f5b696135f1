import assert from "node:assert/strict";
import { test } from "node:test";
import { randoms } from "../../random";
import { type Mark, overlap, type Placed, placeLabels, type Rect } from "./labels";

const kBounds = { left: 0, top: 0, right: 400, bottom: 300 };

const mark = (x: number, y: number, ...texts: string[]): Mark => ({ x, y, texts, must: false });

/** Returns the rectangle of 11-pixel text: 6.8 by 13 per letter, with the baseline 4 below the middle. */
function boxOf({ text, x, y, anchor }: Placed): Rect {
  const width = text.length * 6.8;
  const left = x - { start: 0, middle: width / 2, end: width }[anchor];
  return { left, right: left + width, top: y - 10.5, bottom: y + 2.5 };
}

test("a single label is right of its mark", () => {
  const [placed] = placeLabels([mark(100, 100, "tp 4")], kBounds, []);
  // 8 for the mark, 4 for the gap
  assert.deepEqual(placed, { text: "tp 4", x: 112, y: 104, anchor: "start", far: false });
});

test("at the right edge a label is left of its mark", () => {
  const [placed] = placeLabels([mark(395, 100, "tp 4")], kBounds, []);
  assert.equal(placed!.anchor, "end");
  assert.equal(placed!.x, 383);
});

test("a shorter text is used if the long one has no room", () => {
  const narrow = { left: 0, top: 0, right: 80, bottom: 40 };
  const [placed] = placeLabels([mark(20, 20, "far too long to be written", "best")], narrow, []);
  assert.equal(placed!.text, "best");
});

test("earlier marks get better positions, and marks without room no label", () => {
  const wall = Array.from({ length: 40 }, (_, i) => mark((i % 8) * 14, Math.floor(i / 8) * 14));
  const crowd = [...wall, mark(50, 30, "in the crowd")];
  assert.equal(placeLabels(crowd, kBounds, []).pop(), null);
  const must = placeLabels([...wall, { ...mark(50, 30, "in the crowd"), must: true }], kBounds, []);
  assert.equal(must.pop()!.far, true);
});

test("labels stay inside and cover no marks, labels or reserved areas", () => {
  for (let seed = 0; seed < 400; ++seed) {
    const random = randoms(seed);
    const marks = Array.from({ length: random(1, 30) }, () => ({
      x: random(0, 400),
      y: random(0, 300),
      texts: ["x".repeat(random(1, 40)), "xx"],
      must: random(0, 5) === 0,
    }));
    const kept = [{ left: 300, right: 306, top: 0, bottom: 300 }];
    const boxes = placeLabels(marks, kBounds, kept).flatMap((p) => (p ? [boxOf(p)] : []));
    const dots = marks.map(({ x, y }) => ({
      left: x - 7,
      right: x + 7,
      top: y - 7,
      bottom: y + 7,
    }));
    boxes.forEach((box, i) => {
      assert.ok(box.left >= 0 && box.right <= 400 && box.top >= 0 && box.bottom <= 300);
      for (const other of [...boxes.slice(0, i), ...dots, ...kept])
        assert.ok(!overlap(box, other), `seed ${seed}`);
    });
  }
});

test("a label stays on its side of the limit", () => {
  const side = { left: 0, top: 0, right: 120, bottom: 300 };
  const [placed] = placeLabels([{ ...mark(100, 100, "tp 4"), bounds: side }], kBounds, []);
  assert.equal(placed!.anchor, "end");
  const [none] = placeLabels([{ ...mark(4, 4, "a long label"), bounds: { ...side, right: 20 } }], kBounds, []);
  assert.equal(none, null);
});
