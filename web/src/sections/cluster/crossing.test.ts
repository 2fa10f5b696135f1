import assert from "node:assert/strict";
import { test } from "node:test";
import type { Domain, Group } from "../../document";
import { crossed } from "./crossing";
import { allBoxes, type Box, layOut } from "./layout";

const kNode = { level: 0, index: 0, domains: [] };

/** Two nodes of two devices under one switch; each node represents `count`. */
function twoNodes(count: number): Box {
  const root: Domain = {
    level: 1,
    index: 0,
    count: 1,
    devices: [],
    domains: [
      { ...kNode, count, devices: [0, 1] },
      { ...kNode, count, devices: [2, 3] },
    ],
  };
  return draw(root);
}

function draw(root: Domain): Box {
  const sizes = { seat: 20, columns: 8, gap: 5, pad: 10, edge: 8, rise: 14, head: 20, stack: 6 };
  return layOut(root, 800, { ...sizes, least: () => 0 });
}

function group(of_device: number[], level: number, size = 2): Group {
  return { kind: "tp", size, count: 1, spans: "", level, of_device, collectives: [] };
}

/** Returns the links by level and the devices below them, outermost first. */
function names(root: Box, found: ReturnType<typeof crossed>): string[] {
  return allBoxes(root)
    .flatMap((box) => box.links)
    .filter((link) => found.has(link))
    .map((link) => `${link.level}:${link.devices}`);
}

test("a group inside a node crosses the links of its devices", () => {
  const root = twoNodes(1);
  assert.deepEqual(names(root, crossed(root, group([0, 0, 1, 1], 0), 1)), ["0:2", "0:3"]);
});

test("a group with one device per node crosses only the links of nodes", () => {
  const root = twoNodes(1);
  assert.deepEqual(names(root, crossed(root, group([0, 1, 0, 1], 1), 0)), ["1:0,1", "1:2,3"]);
});

test("a group of all devices crosses all links", () => {
  const root = twoNodes(1);
  assert.equal(crossed(root, group([0, 0, 0, 0], 1, 4)).size, 6);
});

test("a kind crosses the links that any of its groups crosses", () => {
  const root = twoNodes(1);
  const pairs = group([0, 0, 1, 1], 0);
  assert.equal(crossed(root, pairs).size, 4);
});

test("idle devices are in no group", () => {
  const root = twoNodes(1);
  assert.deepEqual(names(root, crossed(root, group([0, 0, -1, -1], 0))), ["0:0", "0:1"]);
});

test("a group that continues in undrawn nodes leaves the drawn one", () => {
  // dp: each device with its counterparts in the 7 identical nodes
  const root = twoNodes(8);
  assert.deepEqual(names(root, crossed(root, group([0, 1, 2, 3], 1, 8), 0)), ["1:0,1"]);
});

test("a group inside a folded node does not leave it", () => {
  const root = twoNodes(8);
  assert.deepEqual(names(root, crossed(root, group([0, 0, 1, 1], 0), 0)), ["0:0", "0:1"]);
});

test("a message to another hall passes only its own leaf and spine", () => {
  const leaf = {
    level: 1,
    index: 0,
    count: 16,
    devices: [],
    domains: [{ ...kNode, count: 2, devices: [0, 1] }],
  };
  const spine = { level: 2, index: 0, count: 16, devices: [], domains: [leaf] };
  const root = draw({ level: 3, index: 0, count: 1, devices: [], domains: [spine] });
  const dp = (level: number) => names(root, crossed(root, group([0, 1], level, 512), 0));
  assert.deepEqual(dp(3), ["3:0,1", "2:0,1", "1:0,1"]);
  assert.deepEqual(dp(2), ["2:0,1", "1:0,1"]);
  assert.deepEqual(dp(1), ["1:0,1"]);
});
