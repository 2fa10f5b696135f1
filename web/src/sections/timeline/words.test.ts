import assert from "node:assert/strict";
import { test } from "node:test";
import type { Timeline } from "../../document";
import { shadeWords } from "./words";

const shaded = (colors: string[], chunks: number) =>
  ({ kinds: [{ name: "forward", category: "", colors }], summary: { chunks } }) as Timeline;

test("lighter cells are later chunks, or DualPipe's other direction", () => {
  assert.equal(shadeWords(shaded(["#0072b2"], 1)), "");
  assert.equal(shadeWords(shaded(["#0072b2", "#99c7e0"], 2)), "lighter cells are later chunks");
  assert.match(shadeWords(shaded(["#0072b2", "#99c7e0"], 1)), /entered at the other end/);
});
