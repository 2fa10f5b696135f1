// How the ranks spend a range of the step: the share of each kind of work, and of idle time.
import type { Kind } from "../../document";
import type { Lane } from "./lanes";

export interface Total {
  name: string;
  share: number; // of the ranks' time in the range
}

/** Returns the kinds that occur between two times, and the idle rest. Overlapped events take no time of
 * their own. */
export function totalsIn(lanes: Lane[], kinds: Kind[], from: number, to: number): Total[] {
  const sums = kinds.map(() => 0);
  const within = (begin: number, end: number) =>
    Math.max(0, Math.min(end, to) - Math.max(begin, from));
  for (const lane of lanes) {
    for (const event of lane.events)
      if (!event.beside) sums[event.kind] += within(event.begin, event.end);
    const length = lane.end / Math.max(1, lane.parts.length);
    lane.parts.forEach((part, p) => {
      const covered = within(p * length, (p + 1) * length);
      part.forEach((percent, kind) => (sums[kind] += (covered * percent) / 100));
    });
  }
  const all = (to - from) * lanes.length;
  if (!(all > 0)) return [];
  const totals = kinds.flatMap((kind, k) =>
    sums[k] > 0 ? [{ name: kind.name, share: sums[k] / all }] : [],
  );
  const busy = totals.reduce((sum, total) => sum + total.share, 0);
  return busy < 1 - 1e-9 ? [...totals, { name: "idle", share: 1 - busy }] : totals;
}
