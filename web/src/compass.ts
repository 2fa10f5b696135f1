// Arrow-key navigation over items on a plane: right goes to the nearest item on the right. As in
// roving.ts, one of them is the Tab stop.
import { useState } from "preact/hooks";

export interface Spot {
  x: number;
  y: number;
}

const kDirections: Record<string, Spot> = {
  ArrowRight: { x: 1, y: 0 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowDown: { x: 0, y: 1 },
  ArrowUp: { x: 0, y: -1 },
};
const kAside = 2; // weight of sideways distance, so that rows are followed

/** Returns the spot that a key leads to from `current`, or `current` if there is none; -1 for other
 * keys. */
export function toward(spots: Spot[], current: number, key: string): number {
  if (key === "Home") return 0;
  if (key === "End") return spots.length - 1;
  const way = kDirections[key];
  if (!way) return -1;
  const from = spots[current];
  const under = stacked(spots, current, way);
  if (under >= 0) return under;
  let best = current;
  let nearest = Infinity;
  spots.forEach((spot, i) => {
    const ahead = (spot.x - from.x) * way.x + (spot.y - from.y) * way.y;
    const aside = Math.abs((spot.x - from.x) * way.y) + Math.abs((spot.y - from.y) * way.x);
    if (ahead <= 0 || aside > kAside * ahead) return;
    const distance = ahead + kAside * aside;
    if (distance < nearest) [best, nearest] = [i, distance];
  });
  return best;
}

/** Returns the next item on the same spot after `current`, or the previous one for left and up; -1 if
 * there is none. */
function stacked(spots: Spot[], current: number, way: Spot): number {
  const here = ({ x, y }: Spot) => x === spots[current].x && y === spots[current].y;
  if (way.x + way.y > 0) return spots.findIndex((spot, i) => i > current && here(spot));
  for (let i = current - 1; i >= 0; --i) if (here(spots[i])) return i;
  return -1;
}

export function useCompass(spots: Spot[]) {
  const [at, setAt] = useState(0);
  const current = Math.min(at, spots.length - 1);
  return {
    /** Attributes of the i-th item. */
    stop: (i: number) => ({ tabindex: i === current ? 0 : -1, "data-stop": i }),
    /** Attributes of the container. */
    plane: {
      onKeyDown: (event: KeyboardEvent) => {
        const next = toward(spots, current, event.key);
        if (next < 0) return;
        event.preventDefault();
        setAt(next);
        const held = event.currentTarget as Element;
        held.querySelector<SVGElement>(`[data-stop="${next}"]`)?.focus();
      },
      onFocusIn: (event: FocusEvent) => {
        const stop = (event.target as Element).getAttribute("data-stop");
        if (stop !== null) setAt(Number(stop));
      },
    },
  };
}
