// A lane's cells as SVG paths, one per color, so that thousands of cells are a few dozen elements.
import type { Kind } from "../../document";
import type { Event, Lane } from "./lanes";
import { toPixel, type View } from "./time";

export interface Shape {
  color: string;
  edge: string; // the kind's own color, around lighter cells that would not stand out alone
  path: string;
}
export interface Label {
  x: number;
  text: string;
  color: string; // of the cell
}
/** The heights of a lane's parts from top to bottom, in pixels. */
export interface Heights {
  cells: number;
  beside: number; // overlapped events, below the cells; 0: there are none
  gap: number; // between lanes
}

const kLeast = 0.6; // pixels: the minimum drawn width
const kEdged = 4; // pixels: narrower cells have no edge
const kDigit = 6; // pixels
const kLine = 12; // pixels: lower lanes have no numbers

export const heightOf = (h: Heights) => h.cells + (h.beside > 0 ? h.beside + 1 : 0);

export function colorOf(kinds: Kind[], event: Event): string {
  const colors = kinds[event.kind].colors;
  return colors[Math.min(event.shade, colors.length - 1)];
}

/** Returns the drawn range of a time span, clipped to the view; null if it is outside. */
export function extent(time: { begin: number; end: number }, view: View) {
  if (time.end < view.from || time.begin > view.to) return null;
  const from = Math.max(toPixel(view, time.begin), -2);
  const to = Math.min(toPixel(view, time.end), view.width + 2);
  return { from, to: Math.max(to, from + kLeast) };
}

export function shapes(lane: Lane, kinds: Kind[], view: View, heights: Heights): Shape[] {
  if (lane.parts.length > 0) return stacked(lane, kinds, view, heights.cells);
  const paths = new Map<string, { edge: string; path: string[] }>();
  for (const event of lane.events) {
    const at = extent(event, view);
    if (!at) continue;
    // A line between neighbors, if they are wide enough.
    const width = at.to - at.from;
    const right = at.to - (width > 5 ? 1 : width > 2.5 ? 0.5 : 0);
    const color = colorOf(kinds, event);
    const own = kinds[event.kind].colors[0];
    const edge = color !== own && width > kEdged ? own : "none";
    const key = `${color} ${edge}`;
    if (!paths.has(key)) paths.set(key, { edge, path: [] });
    const top = event.beside ? heights.cells + 1 : 0;
    const bottom = event.beside ? heightOf(heights) : heights.cells;
    paths.get(key)!.path.push(rectangle(at.from, right, top, bottom));
  }
  return [...paths].map(([key, { edge, path }]) => ({
    color: key.split(" ")[0],
    edge,
    path: path.join(""),
  }));
}

/** Stacks the shares of the kinds in each part of the step; the rest is idle. */
function stacked(lane: Lane, kinds: Kind[], view: View, height: number): Shape[] {
  const paths = kinds.map(() => "");
  lane.parts.forEach((part, p) => {
    const from = toPixel(view, (lane.end * p) / lane.parts.length);
    const to = toPixel(view, (lane.end * (p + 1)) / lane.parts.length);
    if (to < 0 || from > view.width) return;
    let filled = 0;
    part.forEach((percent, kind) => {
      if (percent === 0) return;
      const bottom = height * (1 - filled / 100);
      filled += percent;
      paths[kind] += rectangle(from, to, height * (1 - filled / 100), bottom);
    });
  });
  return paths
    .map((path, kind) => ({ color: kinds[kind].colors[0], edge: "none", path }))
    .filter((shape) => shape.path !== "");
}

function rectangle(left: number, right: number, top: number, bottom: number): string {
  return `M${short(left)} ${short(top)}H${short(right)}V${short(bottom)}H${short(left)}Z`;
}
const short = (pixels: number) => Math.round(pixels * 100) / 100;

/** Returns the microbatch numbers of the cells that have room for them. */
export function labels(lane: Lane, kinds: Kind[], view: View, heights: Heights): Label[] {
  if (heights.cells < kLine) return [];
  return lane.events.flatMap((event) => {
    const at = event.stage >= 0 ? extent(event, view) : null;
    const text = String(event.microbatch);
    if (!at || at.to - at.from < text.length * kDigit + 4) return [];
    return [{ x: short((at.from + at.to) / 2), text, color: colorOf(kinds, event) }];
  });
}
