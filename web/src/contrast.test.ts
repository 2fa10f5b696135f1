import assert from "node:assert/strict";
import { test } from "node:test";
import { inkOn } from "./contrast";

test("text on a color is black or white, whichever has more contrast", () => {
  // rankwright/report/render/event_color.cc: vermillion has 5.4 with black and 3.9 with white, blue 4 and 5.2
  assert.equal(inkOn("#d55e00"), "#000");
  assert.equal(inkOn("#0072b2"), "#fff");
  assert.equal(inkOn("rgb(255, 255, 255)"), "#000");
  assert.equal(inkOn("#000000"), "#fff");
});
