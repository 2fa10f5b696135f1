import assert from "node:assert/strict";
import { test } from "node:test";
import { randoms } from "../../random";
import { ticks, toPixel, toSeconds, type View } from "./time";

const texts = (view: View) => ticks(view).map((tick) => tick.text);

test("the view's ends map to the drawing's ends", () => {
  const view = { from: 2, to: 6, width: 800 };
  assert.equal(toPixel(view, 2), 0);
  assert.equal(toPixel(view, 6), 800);
  assert.equal(toPixel(view, 3), 200); // a quarter of 4 s
  assert.equal(toSeconds(view, 200), 3);
});

test("conversions between pixels and seconds are inverse", () => {
  const random = randoms(1);
  for (let i = 0; i < 1000; ++i) {
    const from = random(0, 1e6) / 1e4;
    const view = { from, to: from + random(1, 1e6) / 1e6, width: random(200, 2000) };
    const pixel = random(0, view.width);
    assert.ok(Math.abs(toPixel(view, toSeconds(view, pixel)) - pixel) < 1e-3);
  }
});

test("ticks are round and in one unit", () => {
  assert.deepEqual(texts({ from: 0, to: 2, width: 450 }), [
    "0.0 s",
    "0.5 s",
    "1.0 s",
    "1.5 s",
    "2.0 s",
  ]);
  assert.deepEqual(texts({ from: 0, to: 0.06, width: 270 }), ["0 ms", "20 ms", "40 ms", "60 ms"]);
});

test("close ticks have enough digits to differ", () => {
  assert.deepEqual(texts({ from: 3.2104, to: 3.2136, width: 300 }), [
    "3.211 s",
    "3.212 s",
    "3.213 s",
  ]);
});

test("no two ticks have the same text at any zoom", () => {
  const random = randoms(2);
  for (let i = 0; i < 500; ++i) {
    const from = random(0, 60e6) / 1e6;
    const view = { from, to: from + 60 / 2 ** random(0, 12), width: random(250, 1500) };
    const all = texts(view);
    assert.equal(new Set(all).size, all.length, JSON.stringify(view));
    assert.ok(all.length >= 1);
    for (const tick of ticks(view)) assert.ok(tick.at >= view.from && tick.at <= view.to);
  }
});
