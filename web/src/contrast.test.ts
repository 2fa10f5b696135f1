import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, inkOn } from "./contrast";
import { kAxisColors, kEntryColors, kTimeColors } from "./palette";

test("text on a color is black or white, whichever has more contrast", () => {
  assert.equal(inkOn("#d55e00"), "#000");
  assert.equal(inkOn("#0072b2"), "#fff");
  assert.equal(inkOn("rgb(255, 255, 255)"), "#000");
  assert.equal(inkOn("#000000"), "#fff");
});

test("contrast is that of WCAG 2.1", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#777777"), 1);
});

test("every color of a palette stands out on both grounds", () => {
  const grounds = { light: "#fafaf7", dark: "#14171a" }; // --ground of theme.css
  for (const palette of [kAxisColors, kEntryColors, kTimeColors])
    for (const [name, color] of Object.entries(palette))
      for (const [theme, ground] of Object.entries(grounds))
        assert.ok(contrast(color, ground) >= 3, `${name} on ${theme}: ${contrast(color, ground)}`);
});

test("the palettes of axes, time and memory share no color", () => {
  const all = [kAxisColors, kEntryColors, kTimeColors].map((p) => new Set(Object.values(p)));
  for (const [i, one] of all.entries())
    for (const other of all.slice(i + 1))
      for (const color of one) assert.ok(!other.has(color), color);
});
