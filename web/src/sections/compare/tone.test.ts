import assert from "node:assert/strict";
import { test } from "node:test";
import type { Compare, Side } from "../../document";
import { toneOf } from "./tone";

/** A comparison in which B is faster, with this fit. */
function faster(memory: { fits: boolean; sure: boolean } | null, tie = false): Compare {
  const b = { memory } as Side;
  return { b, verdict: { faster: "b", tie } } as Compare;
}

test("the faster plan is good if it fits; otherwise the banner says that it does not", () => {
  assert.deepEqual(toneOf(faster({ fits: true, sure: true })), { tone: "good", words: "" });
  assert.deepEqual(toneOf(faster({ fits: false, sure: true })), {
    tone: "refused",
    words: "✕ B does not fit",
  });
  assert.deepEqual(toneOf(faster({ fits: true, sure: false })), {
    tone: "unsure",
    words: "? B may not fit",
  });
  assert.equal(toneOf(faster(null)).tone, "unsure");
  assert.equal(toneOf(faster({ fits: true, sure: true }, true)).tone, "tie");
});
