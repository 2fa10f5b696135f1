// Number formats: the rules of rankwright/base/format.cc, so that the page and the terminal show the
// same text. Lines never break between a number and its unit.

const kSpace = "\u00a0";

export function count(n: number): string {
  const text = Math.abs(n).toFixed(0);
  return (n < 0 ? "-" : "") + text.replace(/\B(?=(\d{3})+$)/g, ",");
}

export function plural(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Formats parameters and tokens: 70.6 B, 4.19 M. */
export function shortCount(n: number): string {
  if (Math.abs(n) < 999.5) return digits(n);
  return scaled(n / 1e3, 1e3, ["k", "M", "B", "T", "P"]);
}

/** Formats sent bytes: 134 MB. */
export function bytes(n: number): string {
  return scaled(n, 1e3, ["B", "kB", "MB", "GB", "TB", "PB", "EB"]);
}

export function bytesPerSecond(n: number): string {
  return scaled(n, 1e3, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"]);
}

/** Formats stored bytes: 79.6 GiB. */
export function memory(n: number): string {
  return scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
}

/** Returns the unit of a value's text, so that ticks up to it are round: 2^30 for GiB. */
export function memoryUnit(most: number): number {
  let unit = 1;
  while (most >= 1024 * unit) unit *= 1024;
  return unit;
}

/** Formats a part of a whole: 68.1 of 79.1 GiB, with the unit once if both have the same. */
export function memoryOf(part: number, whole: number): string {
  const first = memory(part);
  const second = memory(whole);
  const unit = first.lastIndexOf(kSpace);
  const same = unit >= 0 && second.endsWith(first.slice(unit));
  return `${same ? first.slice(0, unit) : first} of ${second}`;
}

export function flops(n: number): string {
  return scaled(n, 1e3, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"]);
}

export function seconds(s: number): string {
  const word = withoutDigits(s);
  if (word) return word;
  if (s === 0) return `0${kSpace}s`;
  if (s < 0) return `-${seconds(-s)}`;
  if (s >= 86400) {
    const days = digits(s / 86400);
    return `${days}${kSpace}${days === "1" ? "day" : "days"}`;
  }
  if (s >= 7199.5) return `${digits(s / 3600)}${kSpace}h`;
  if (s >= 0.9995) return `${digits(s)}${kSpace}s`;
  return scaled(s * 1e9, 1e3, ["ns", "us", "ms", "s"]);
}

export function percent(share: number): string {
  return withoutDigits(share) || `${digits(share * 100)}${kSpace}%`;
}

/** Formats a fraction in a column: 41.0 %, and <0.1 % for small nonzero ones. */
export function share(of: number): string {
  if (of > 0 && of < 0.0005) return `<0.1${kSpace}%`;
  return `${(100 * of).toFixed(1)}${kSpace}%`;
}

/** Formats an error band of nine of ten published runs, or an assumed one: ±13 %, ±35 % assumed. */
export function band({ within, runs }: { within: number; runs: number }): string {
  return `±${percent(Math.round(100 * within) / 100)}${runs === 0 ? " assumed" : ""}`;
}

const kUnits = "%|[kMGTPE]?B(?:/s)?|[KMGTPE]iB|[kMGTPE]?FLOP(?:/s)?|[kMT]|[num]?s|h|days?";
const kBeforeUnit = new RegExp(`(\\d) (?=(?:${kUnits})(?![\\w/-]))`, "g");

/** Returns a sentence of the document with non-breaking spaces between numbers and units. */
export function unbroken(words: string): string {
  return words.replace(kBeforeUnit, `$1${kSpace}`);
}

/** Formats a difference of quantities of the size of `of` with its sign: +1.2 s. Less than half a
 * millionth of `of` is rounding, and 0. */
export function difference(n: number, of: number, show: (n: number) => string): string {
  if (Math.abs(n) < 0.5e-6 * Math.abs(of)) return show(0);
  return n > 0 ? `+${show(n)}` : show(n);
}

/** Formats three significant digits without trailing zeros. From a thousand to 1e15 all integer digits
 * are kept; less than half a millionth is 0. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15) return exponential(value);
  if (size >= 999.5) return count(Math.sign(value) * Math.round(size));
  if (size < 0.5e-6) return "0";
  const before = Math.floor(Math.log10(size)) + 1;
  const text = fixed(value, Math.max(0, 3 - before));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Like toFixed, but ties round to even, as in C++: 1.125 is 1.12. A double is a tie if 2^(places+1)
 * makes it whole and 2^places does not. */
function fixed(value: number, places: number): string {
  const tie = Number.isInteger(value * 2 ** (places + 1)) && !Number.isInteger(value * 2 ** places);
  if (!tie) return value.toFixed(places);
  const below = Math.floor(value * 10 ** places);
  const even = below % 2 === 0 ? below : below + 1;
  return (even / 10 ** places).toFixed(places);
}

/** Formats large values like printf's %.3g: 1e+22. */
function exponential(value: number): string {
  return value.toExponential(2).replace(/\.?0+e/, "e");
}

/** Returns the text of NaN and infinity; empty for other values. */
function withoutDigits(value: number): string {
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value > 0 ? "unbounded" : "-unbounded";
  return "";
}

/** Formats `value` in the largest unit in which it is at least 1. */
function scaled(value: number, step: number, units: string[]): string {
  const word = withoutDigits(value);
  if (word) return word;
  let unit = 0;
  // 999.5 rounds to 1,000 of the smaller unit, so it is 1 of the next.
  while (Math.abs(value) >= step - 0.5 && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return `${digits(value)}${kSpace}${units[unit]}`;
}
