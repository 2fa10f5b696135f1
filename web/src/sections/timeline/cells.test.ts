import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kind } from "../../document";
import { heightOf, labels, shapes } from "./cells";
import { type Event, eventAt, type Lane } from "./lanes";
import type { View } from "./time";

const kKinds: Kind[] = [
  { name: "forward", category: "", colors: ["#000001", "#000002"] },
  { name: "backward", category: "", colors: ["#000003", "#000004"] },
];
const kView: View = { from: 0, to: 10, width: 100 };
const kHeights = { cells: 20, beside: 4, gap: 2 };

function cell(begin: number, end: number, kind = 0, shade = 0, microbatch = 7): Event {
  return { begin, end, kind, shade, stage: 0, microbatch, step: "", beside: false };
}
function lane(...events: Event[]): Lane {
  return { ppRank: 0, end: 10, events, parts: [] };
}
const beside = (event: Event): Event => ({ ...event, stage: -1, microbatch: -1, beside: true });

test("a cell's width is its duration, minus a line to the next", () => {
  // from 1 s to 3 s of 10 s on 100 pixels: 10 to 30, less 1
  assert.deepEqual(shapes(lane(cell(1, 3)), kKinds, kView, kHeights), [
    { color: "#000001", edge: "none", path: "M10 0H29V20H10Z" },
  ]);
});

test("cells shorter than a pixel are still visible", () => {
  const [shape] = shapes(lane(cell(5, 5.001)), kKinds, kView, kHeights);
  assert.equal(shape.path, "M50 0H50.6V20H50Z");
});

test("overlapped events are drawn below the cells", () => {
  assert.equal(heightOf(kHeights), 25); // 20, a 1 px line, 4
  const [shape] = shapes(lane(beside(cell(1, 3))), kKinds, kView, kHeights);
  assert.equal(shape.path, "M10 21H29V25H10Z");
});

test("there is exactly one path per color", () => {
  const cells = lane(cell(0, 1), cell(1, 2, 1), cell(2, 3), cell(3, 4, 0, 1), cell(4, 5, 1));
  const found = shapes(cells, kKinds, kView, kHeights);
  assert.deepEqual(
    found.map(({ color, path }) => [color, path.split("M").length - 1]),
    [
      ["#000001", 2],
      ["#000003", 2],
      ["#000002", 1],
    ],
  );
});

test("cells outside the view are not drawn", () => {
  const view = { from: 4, to: 5, width: 100 };
  const found = shapes(lane(cell(0, 3), cell(3, 6), cell(7, 8)), kKinds, view, kHeights);
  assert.deepEqual(found, [{ color: "#000001", edge: "none", path: "M-2 0H101V20H-2Z" }]);
});

test("shares of a part are stacked, and the rest is idle", () => {
  // 2 parts of 5 s: 50 % and 25 %; 100 % of the other
  const parts: Lane = {
    ...lane(),
    parts: [
      [50, 25],
      [0, 100],
    ],
  };
  assert.deepEqual(shapes(parts, kKinds, kView, kHeights), [
    { color: "#000001", edge: "none", path: "M0 10H50V20H0Z" },
    { color: "#000003", edge: "none", path: "M0 5H50V10H0ZM50 0H100V20H50Z" },
  ]);
});

test("numbers are in cells with room, and not in lanes that are too low", () => {
  const cells = lane(cell(0, 1), cell(1, 1.9, 0, 0, 12), cell(2, 3.6, 0, 0, 12));
  // "7" needs 6 + 4 pixels and has 10; "12" needs 16 and has 9, then 16
  assert.deepEqual(
    labels(cells, kKinds, kView, kHeights).map(({ x, text }) => [x, text]),
    [
      [5, "7"],
      [28, "12"],
    ],
  );
  assert.deepEqual(labels(cells, kKinds, kView, { ...kHeights, cells: 8 }), []);
});

test("the pointer finds the cell under it, or a short one nearby", () => {
  const cells = lane(cell(1, 2), cell(4, 4.01), beside(cell(1, 9)));
  assert.equal(eventAt(cells, 1.5, 0.2, false), 0);
  assert.equal(eventAt(cells, 4.1, 0.2, false), 1);
  assert.equal(eventAt(cells, 3, 0.2, false), -1);
  assert.equal(eventAt(cells, 3, 0.2, true), 2);
});
