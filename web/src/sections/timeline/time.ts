// The visible part of the step, and its axis.
import { scaleLinear } from "d3-scale";

/** The visible range in seconds, and its width in pixels. */
export interface View {
  from: number;
  to: number;
  width: number;
}

export function toPixel(view: View, seconds: number): number {
  return ((seconds - view.from) / (view.to - view.from)) * view.width;
}
export function toSeconds(view: View, pixel: number): number {
  return view.from + (pixel / view.width) * (view.to - view.from);
}

export interface Tick {
  at: number; // seconds
  text: string;
}

const kUnits: [seconds: number, name: string][] = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "us"],
  [1e-9, "ns"],
];
const kApart = 90; // pixels

/** Returns round times, all in the unit of the view's end, with enough digits to differ. */
export function ticks(view: View): Tick[] {
  const all = scaleLinear([view.from, view.to], [0, 1]).ticks(Math.max(2, view.width / kApart));
  if (all.length < 2) return all.map((at) => ({ at, text: `${at} s` }));
  const [unit, name] = kUnits.find(([size]) => view.to >= size) ?? kUnits[kUnits.length - 1];
  const step = (all[1] - all[0]) / unit;
  const places = Math.max(0, Math.ceil(-Math.log10(step) - 1e-6));
  return all.map((at) => ({ at, text: `${(at / unit).toFixed(places)} ${name}` }));
}
