import assert from "node:assert/strict";
import { test } from "node:test";
import type { Domain } from "../../document";
import { randoms } from "../../random";
import { allBoxes, type Box, devicesUnder, isEven, layOut, type Place, type Sizes } from "./layout";

const kSizes: Sizes = {
  seat: 20,
  columns: 4,
  gap: 5,
  pad: 10,
  edge: 8,
  rise: 14,
  head: 20,
  stack: 6,
  least: () => 40,
};

/** Returns one domain with `nodes` domains of `each` devices. */
function twoLevels(nodes: number, each: number, count = 1): Domain {
  const domains = Array.from({ length: nodes }, (_, n) => ({
    level: 0,
    index: n,
    count,
    domains: [],
    devices: Array.from({ length: each }, (_, d) => n * each + d),
  }));
  return { level: 1, index: 0, count: 1, domains, devices: [] };
}

/** Returns random domains, uneven and folded. */
function anyTree(random: (from: number, to: number) => number): Domain {
  let devices = 0;
  const grow = (level: number): Domain => ({
    level,
    index: 0,
    count: random(1, 3) === 3 ? random(2, 500) : 1,
    domains: level > 0 ? Array.from({ length: random(1, 6) }, () => grow(level - 1)) : [],
    devices: level > 0 ? [] : Array.from({ length: random(1, 16) }, () => devices++),
  });
  return grow(random(0, 4));
}

const inside = (a: Place, b: Place) =>
  a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
const apart = (a: Place, b: Place) =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

/** Returns a box including the edges of those behind it. */
function withStack(box: Box): Place {
  const stack = box.domain.count > 1 ? kSizes.stack : 0;
  return { ...box, width: box.width + stack, height: box.height + stack };
}

function everyBox(check: (box: Box, seed: number, room: number) => void) {
  for (let seed = 0; seed < 300; ++seed) {
    const random = randoms(seed);
    const room = random(280, 1400);
    const root = layOut(anyTree(random), room, kSizes);
    for (const box of allBoxes(root)) check(box, seed, room);
  }
}

test("a node of 8 in rows of 4", () => {
  const box = layOut(twoLevels(1, 8).domains[0], 500, kSizes);
  // 8 edge + 8 trunk + 4 x 20 + 3 x 5 + 8 edge = 119
  assert.equal(box.width, 119);
  // 20 head + 7 + 20 + 5 + 7 + 20 + 8 edge = 87
  assert.equal(box.height, 87);
  assert.deepEqual(
    box.rails.map((rail) => rail.y),
    [20, 52],
  );
});

test("8 nodes with room for 5 per row are drawn as 4 and 4", () => {
  // 5 x 119 + 4 x 10 between + 2 x 10 + 8 trunk = 663
  const box = layOut(twoLevels(8, 8), 663, kSizes);
  assert.deepEqual(
    box.rails.map((_, r) => box.links.filter((link) => link.rail === r).length),
    [4, 4],
  );
  assert.ok(isEven(box));
});

test("one device is a box with one seat", () => {
  const box = layOut(twoLevels(1, 1), 300, kSizes);
  assert.deepEqual(devicesUnder(box.domain), [0]);
  assert.equal(box.boxes[0].seats.length, 1);
  assert.equal(box.rails.length, 1);
});

test("children are inside their domain's box", () => {
  everyBox((box, seed) => {
    for (const child of [...box.boxes.map(withStack), ...box.seats])
      assert.ok(inside(child, box), `seed ${seed}`);
  });
});

test("boxes and seats of a domain do not overlap, including edges behind them", () => {
  everyBox((box, seed) => {
    const children: Place[] = [...box.boxes.map(withStack), ...box.seats];
    for (let i = 0; i < children.length; ++i)
      for (let j = 0; j < i; ++j) assert.ok(apart(children[i], children[j]), `seed ${seed}`);
  });
});

test("every child has one link, from its middle up to the rail above it", () => {
  everyBox((box, seed) => {
    const children: Place[] = [...box.boxes, ...box.seats];
    assert.equal(box.links.length, children.length);
    box.links.forEach((link, i) => {
      const rail = box.rails[link.rail];
      assert.equal(link.x, children[i].x + children[i].width / 2);
      assert.ok(rail.y < children[i].y, `seed ${seed}`);
      assert.ok(rail.from <= link.x && link.x <= rail.to, `seed ${seed}`);
      assert.ok(box.x <= rail.from && rail.to <= box.x + box.width, `seed ${seed}`);
    });
  });
});

test("every device has one seat", () => {
  everyBox((box, seed) => {
    const seats = allBoxes(box).flatMap((b) => b.seats.map((s) => s.device));
    assert.deepEqual(
      seats.sort((a, b) => a - b),
      devicesUnder(box.domain).sort((a, b) => a - b),
      `seed ${seed}`,
    );
  });
});
