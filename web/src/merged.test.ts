import assert from "node:assert/strict";
import { test } from "node:test";
import { merged } from "./merged";

test("no lists give no names", () => {
  assert.deepEqual(merged([]), []);
  assert.deepEqual(merged([[], []]), []);
});

test("a name missing in one list keeps its position from another", () => {
  assert.deepEqual(
    merged([
      ["a", "d"],
      ["a", "b", "d"],
      ["b", "c", "d", "e"],
    ]),
    ["a", "b", "c", "d", "e"],
  );
});

test("lists that contradict each other still give every name once", () => {
  assert.deepEqual(
    merged([
      ["a", "b"],
      ["b", "a"],
    ]),
    ["a", "b"],
  );
});

test("lists with a common order are merged in that order", () => {
  const order = ["a", "b", "c", "d", "e"];
  const part = (bits: number) => order.filter((_, i) => (bits >> i) & 1);
  for (let one = 0; one < 32; ++one)
    for (let other = 0; other < 32; ++other) {
      const all = merged([part(one), part(other)]);
      assert.equal(new Set(all).size, all.length);
      for (const list of [part(one), part(other)])
        assert.deepEqual(
          all.filter((name) => list.includes(name)),
          list,
          `${part(one)} and ${part(other)} gave ${all}`,
        );
    }
});
