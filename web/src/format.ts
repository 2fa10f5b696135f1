// How numbers look to people: the rules of rankwright/base/format.cc, so that the page and the
// terminal say the same of a quantity. A line never ends between a number and its unit.

const kSpace = "\u00a0";

export function count(n: number): string {
  const text = Math.abs(n).toFixed(0);
  return (n < 0 ? "-" : "") + text.replace(/\B(?=(\d{3})+$)/g, ",");
}

export function plural(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Parameters and tokens: 70.6 B, 4.19 M. */
export function shortCount(n: number): string {
  if (Math.abs(n) < 999.5) return digits(n);
  return scaled(n / 1e3, 1e3, ["k", "M", "B", "T", "P"]);
}

/** What is sent: 134 MB. */
export function bytes(n: number): string {
  return scaled(n, 1e3, ["B", "kB", "MB", "GB", "TB", "PB", "EB"]);
}

export function bytesPerSecond(n: number): string {
  return scaled(n, 1e3, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"]);
}

/** What is stored: 79.6 GiB. */
export function memory(n: number): string {
  return scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
}

/** The unit that so much is written in, so that ticks up to it are round: 2^30 for GiB. */
export function memoryUnit(most: number): number {
  let unit = 1;
  while (most >= 1024 * unit) unit *= 1024;
  return unit;
}

/** 68.1 of 79.1 GiB: the unit is said once where it is the same. */
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

/** Of a whole, in a column of shares: 41.0 %, and <0.1 % of what is there but not seen. */
export function share(of: number): string {
  if (of > 0 && of < 0.0005) return `<0.1${kSpace}%`;
  return `${(100 * of).toFixed(1)}${kSpace}%`;
}

/** Of nine of ten published runs, or of nobody's: ±13 %, ±35 % assumed. */
export function band({ within, runs }: { within: number; runs: number }): string {
  return `±${percent(Math.round(100 * within) / 100)}${runs === 0 ? " assumed" : ""}`;
}

const kUnits = "%|[kMGTPE]?B(?:/s)?|[KMGTPE]iB|[kMGTPE]?FLOP(?:/s)?|[kMT]|[num]?s|h|days?";
const kBeforeUnit = new RegExp(`(\\d) (?=(?:${kUnits})(?![\\w/-]))`, "g");

/** A sentence of the document whose numbers stay with their units. */
export function unbroken(words: string): string {
  return words.replace(kBeforeUnit, `$1${kSpace}`);
}

/** With its sign, of what is a difference between quantities of the size of `of`: +1.2 s. What is
 * less than half a millionth of these is rounding, and 0. */
export function difference(n: number, of: number, show: (n: number) => string): string {
  if (Math.abs(n) < 0.5e-6 * Math.abs(of)) return show(0);
  return n > 0 ? `+${show(n)}` : show(n);
}

/** Three significant digits, without trailing zeros. A thousand and more keeps its digits until
 * they say nothing; what is less than half a millionth is 0. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15) return exponential(value);
  if (size >= 999.5) return count(Math.sign(value) * Math.round(size));
  if (size < 0.5e-6) return "0";
  const before = Math.floor(Math.log10(size)) + 1;
  const text = fixed(value, Math.max(0, 3 - before));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** As toFixed, but what lies exactly between two goes to the even one, as in C++: 1.125 is 1.12. A
 * double lies there if 2^(places+1) makes it whole and 2^places does not. */
function fixed(value: number, places: number): string {
  const tie = Number.isInteger(value * 2 ** (places + 1)) && !Number.isInteger(value * 2 ** places);
  if (!tie) return value.toFixed(places);
  const below = Math.floor(value * 10 ** places);
  const even = below % 2 === 0 ? below : below + 1;
  return (even / 10 ** places).toFixed(places);
}

/** As printf's %.3g writes what is large: 1e+22. */
function exponential(value: number): string {
  return value.toExponential(2).replace(/\.?0+e/, "e");
}

/** What stands for a value that has no digits; empty for one that has. */
function withoutDigits(value: number): string {
  if (Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value > 0 ? "unbounded" : "-unbounded";
  return "";
}

/** `value` with the largest of the units that keeps it at or above 1. */
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
