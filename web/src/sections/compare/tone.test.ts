import assert from "node:assert/strict";
import { test } from "node:test";
import type { Compare, Side } from "../../document";
import { toneOf } from "./tone";

/** A comparison in which B is faster, with this fit. */
function faster(verdict: string | null, tie = false): Compare {
  const b = { memory: verdict === null ? null : { verdict } } as Side;
  return { b, verdict: { faster: "b", tie } } as Compare;
}

test("the faster plan is good if it fits; otherwise the banner gives the verdict on memory", () => {
  assert.deepEqual(toneOf(faster("fits with margin")), { tone: "good", words: "" });
  assert.deepEqual(toneOf(faster("does not fit")), {
    tone: "refused",
    words: "✕ B: does not fit",
  });
  assert.deepEqual(toneOf(faster("tight")), { tone: "unsure", words: "? B: tight" });
  assert.equal(toneOf(faster("over, within estimate error")).tone, "unsure");
  assert.equal(toneOf(faster(null)).tone, "good", "a win without a model is still a win");
  assert.equal(toneOf(faster("fits with margin", true)).tone, "tie");
});
