// The values of rankwright/base/format_test.cc: a number has the same text on the terminal and on the
// page.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "./format";
import { bytes, count, memory, memoryOf, percent, plural, seconds, shortCount } from "./format";

const GiB = 2 ** 30;
const MiB = 2 ** 20;

/** Returns the terminal's form, with a plain space before the unit. */
const plain = (text: string) => text.replaceAll("\u00a0", " ");

/** Checks one row per case: the function, its argument, the text. */
function holds(rows: [(n: number) => string, number, string][]) {
  for (const [show, value, text] of rows)
    assert.equal(plain(show(value)), text, `${show.name}(${value})`);
}

test("count separates thousands", () => {
  holds([
    [count, 0, "0"],
    [count, 999, "999"],
    [count, 1000, "1,000"],
    [count, 1048576, "1,048,576"],
    [count, -999, "-999"],
    [count, -15360, "-15,360"],
    [count, -(2 ** 63), "-9,223,372,036,854,775,808"],
  ]);
});

test("plural follows the number", () => {
  assert.equal(plural(0, "node", "nodes"), "0 nodes");
  assert.equal(plural(1, "node", "nodes"), "1 node");
  assert.equal(plural(1024, "node", "nodes"), "1,024 nodes");
});

test("three significant digits without trailing zeros", () => {
  holds([
    [bytes, 134217728, "134 MB"],
    [bytes, 1.5e9, "1.5 GB"],
    [bytes, 41230, "41.2 kB"],
    [bytes, 1239, "1.24 kB"],
    [bytes, 1.35291469824e12, "1.35 TB"],
    [format.bytesPerSecond, 50e9, "50 GB/s"],
    [format.flops, 4.1e15, "4.1 PFLOP"],
    [memory, 79.6 * GiB, "79.6 GiB"],
  ]);
});

test("values that round up use the next unit", () => {
  holds([
    [bytes, 999.4e3, "999 kB"],
    [bytes, 999.6e3, "1 MB"],
    [bytes, 9.996e3, "10 kB"],
    [memory, 1000 * MiB, "1,000 MiB"],
    [memory, 1023.4 * MiB, "1,023 MiB"],
    [memory, 1023.9 * MiB, "1 GiB"],
    [shortCount, 999.6, "1 k"],
    [shortCount, 999999, "1 M"],
    [seconds, 999.6e-6, "1 ms"],
    [seconds, 0.9996, "1 s"],
  ]);
});

test("zero has no prefix", () => {
  holds([
    [bytes, 0, "0 B"],
    [seconds, 0, "0 s"],
    [seconds, -0, "0 s"],
    [format.bytesPerSecond, 0, "0 B/s"],
    [memory, 0, "0 B"],
    [shortCount, 0, "0"],
    [percent, 0, "0 %"],
  ]);
});

test("negative values are positive ones with a sign", () => {
  holds([
    [bytes, -999.6e3, "-1 MB"],
    [seconds, -0.0015, "-1.5 ms"],
    [seconds, -10800, "-3 h"],
    [format.bytesPerSecond, -5e9, "-5 GB/s"],
    [shortCount, -70.6e9, "-70.6 B"],
    [percent, -0.041, "-4.1 %"],
  ]);
});

test("NaN and infinity are named", () => {
  holds([
    [bytes, Infinity, "unbounded"],
    [seconds, Infinity, "unbounded"],
    [seconds, -Infinity, "-unbounded"],
    [seconds, NaN, "undefined"],
    [shortCount, NaN, "undefined"],
    [percent, Infinity, "unbounded"],
  ]);
});

test("beyond the last prefix values grow, then use an exponent", () => {
  holds([
    [bytes, 1.5e22, "15,000 EB"],
    [bytes, 1e40, "1e+22 EB"],
    [seconds, 86400e30, "1e+30 days"],
  ]);
});

test("tiny values are zero", () => {
  holds([
    [percent, 1e-300, "0 %"],
    [percent, -1e-300, "0 %"],
    [seconds, 1e-12, "0.001 ns"],
  ]);
});

test("seconds use a readable unit", () => {
  holds([
    [seconds, 2e-9, "2 ns"],
    [seconds, 2e-6, "2 us"],
    [seconds, 1.32e-3, "1.32 ms"],
    [seconds, 61, "61 s"],
    [seconds, 7199, "7,199 s"],
    [seconds, 7199.6, "2 h"],
    [seconds, 5.5 * 3600, "5.5 h"],
    [seconds, 86400, "1 day"],
    [seconds, 2.5 * 86400, "2.5 days"],
  ]);
});

test("short counts use B for billions, as model names do", () => {
  holds([
    [shortCount, 8030261248, "8.03 B"],
    [shortCount, 4.19e6, "4.19 M"],
    [shortCount, 512, "512"],
    [shortCount, 15e12, "15 T"],
  ]);
});

test("percentages are multiplied by 100", () => {
  holds([
    [percent, 0.41, "41 %"],
    [percent, 1, "100 %"],
    [percent, 0.0625, "6.25 %"],
    [percent, 12.5, "1,250 %"],
  ]);
});

test("ties round to even, as in C++", () => {
  // 1.125 and 1.375 are exact in binary; 1.005 is slightly less than written.
  holds([
    [seconds, 1.125, "1.12 s"],
    [seconds, 1.375, "1.38 s"],
    [seconds, 1.005, "1 s"],
    [seconds, -1.125, "-1.12 s"],
    [seconds, 12.25, "12.2 s"],
  ]);
});

test("a part of a whole has the unit once", () => {
  assert.equal(plain(memoryOf(68.1 * GiB, 79.1 * GiB)), "68.1 of 79.1 GiB");
  assert.equal(plain(memoryOf(512 * MiB, 79.1 * GiB)), "512 MiB of 79.1 GiB");
});

test("differences carry their sign", () => {
  assert.equal(plain(format.difference(1.5, 10, seconds)), "+1.5 s");
  assert.equal(plain(format.difference(-1.5, 10, seconds)), "-1.5 s");
  assert.equal(plain(format.difference(0, 10, seconds)), "0 s");
  assert.equal(plain(format.difference(0, 0, seconds)), "0 s");
});

test("differences from rounding are zero", () => {
  // 377.22466173521394 and 377.224661735214 s differ in the last bit.
  assert.equal(plain(format.difference(5.7e-14, 377, seconds)), "0 s");
  assert.equal(plain(format.difference(-1e-3, 377, seconds)), "-1 ms");
});

test("error bands are whole percents, marked if assumed", () => {
  // rankwright/report/waterfall_test.cc
  assert.equal(plain(format.band({ within: 0.134, runs: 599 })), "±13 %");
  assert.equal(plain(format.band({ within: 0.35, runs: 0 })), "±35 % assumed");
});

test("shares have one decimal", () => {
  // rankwright/report/render/bars_test.cc
  assert.equal(plain(format.share(0)), "0.0 %");
  assert.equal(plain(format.share(0.0004)), "<0.1 %");
  assert.equal(plain(format.share(0.4096)), "41.0 %");
});

test("lines do not break between a number and its unit", () => {
  for (const text of [seconds(6.69), bytes(134217728), memory(GiB), percent(0.1), seconds(0)])
    assert.match(text, /^[\d.]+\u00a0\S+$/);
  const words = "It takes 6.69 s ±13 %, 8 steps of 5 GB/s, 68.1 of 79.1 GiB; 8 sends";
  assert.equal(
    format.unbroken(words).replaceAll("\u00a0", "_"),
    "It takes 6.69_s ±13_%, 8 steps of 5_GB/s, 68.1 of 79.1_GiB; 8 sends",
  );
});
