// Chooses the size of the map's devices: as large as the width allows without making the map taller than
// a window.
import type { Device, Domain, Ranks } from "../../document";
import { count } from "../../format";
import { allBoxes, type Box, isEven, layOut, type Seat, type Sizes } from "./layout";

const kSeats = [36, 34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 9]; // pixels
const kHighest = 400; // pixels, so that a device and its panel are visible together
const kHigher = 35; // per level
/** Narrower windows are phones: edges are thin, and the drawing scrolls. */
export const kNarrow = 560;
const kLetter = 6.4; // average pixels per letter of the labels above boxes

const kShrink = 0.6; // devices may shrink by this factor if all rows are then full

export function fitted(ranks: Ranks, room: number): Box {
  const high = kHighest + kHigher * ranks.levels.length;
  const highest = high * (room < kNarrow ? 2 : 1);
  const all = kSeats
    .map((seat) => ({ seat, box: lowest(ranks, room, seat) }))
    .filter(({ box }) => box.width <= room);
  const low = all.filter(({ box }) => box.height <= highest);
  if (low.length === 0)
    return all.length > 0 ? all[all.length - 1].box : lowest(ranks, room, kSeats[0]);
  const even = low.find(({ box, seat }) => isEven(box) && seat >= kShrink * low[0].seat);
  return (even ?? low[0]).box;
}

/** Returns the arrangement of devices in columns with the best rating. */
function lowest(ranks: Ranks, room: number, seat: number): Box {
  const all = columnsOf(ranks).map((n) => layOut(ranks.root, room, sizes(ranks, room, seat, n)));
  const narrow = all.filter((box) => box.width <= room);
  const of = narrow.length > 0 ? narrow : all;
  return of.reduce((best, box) => (rating(box) < rating(best) ? box : best));
}

/** Returns the height, with a penalty for partly filled rows; lower is better. */
const rating = (box: Box) => box.height * (isEven(box) ? 1 : 1.3);

function sizes(ranks: Ranks, room: number, seat: number, columns: number): Sizes {
  const narrow = room < kNarrow;
  const heads = widthsOfHeads(ranks);
  return {
    seat,
    columns,
    gap: seat < 18 ? 4 : 6,
    pad: narrow ? 7 : 12,
    edge: narrow ? 6 : 8,
    rise: narrow ? 11 : 14,
    head: 22,
    stack: narrow ? 4 : 6,
    least: (domain) => heads[domain.level],
  };
}

/** Returns column counts that keep a host's devices in whole rows, and domains wider than high. */
function columnsOf(ranks: Ranks): number[] {
  const innermost = innermostOf(ranks.root);
  const most = Math.max(1, ...innermost.map((d) => d.devices.length));
  const host = hostSize(innermost, ranks.devices);
  const all = Array.from({ length: most }, (_, i) => most - i);
  return all.filter((n) => most % n === 0 && n * n >= most && (host % n === 0 || n % host === 0));
}

function innermostOf(domain: Domain): Domain[] {
  return domain.domains.length === 0 ? [domain] : domain.domains.flatMap(innermostOf);
}

/** Returns the devices per host if all domains have the same number; else 1. */
function hostSize(innermost: Domain[], devices: Device[]): number {
  const counted = new Map<number, number>();
  for (const d of innermost.flatMap((domain) => domain.devices))
    counted.set(devices[d].host, (counted.get(devices[d].host) ?? 0) + 1);
  const sizes = new Set(counted.values());
  return sizes.size === 1 ? [...sizes][0] : 1;
}

/** Returns the label: "node 3" for one domain, else the level with its count. */
export function nameOf(domain: Domain, ranks: Ranks): string {
  const hosts = new Set(domain.devices.map((d) => ranks.devices[d].host));
  if (hosts.size === 1) return `node ${count([...hosts][0])}`;
  const alone = domain === ranks.root;
  return alone
    ? ranks.levels[domain.level]
    : `${ranks.levels[domain.level]} ${count(domain.index)}`;
}

export const badgeOf = (domain: Domain) => (domain.count > 1 ? `× ${count(domain.count)}` : "");
export const badgeWidth = (text: string) => (text ? text.length * kLetter + 12 : 0);

/** Returns the width of the longest label by level, so that boxes of a level are alike. */
function widthsOfHeads(ranks: Ranks): number[] {
  const widths = ranks.levels.map(() => 0);
  const visit = (domain: Domain) => {
    const width = 20 + nameOf(domain, ranks).length * kLetter + badgeWidth(badgeOf(domain));
    widths[domain.level] = Math.max(widths[domain.level], width);
    domain.domains.forEach(visit);
  };
  visit(ranks.root);
  return widths;
}

const kSmallest = 9; // pixels: smaller digits cannot be read

/** Returns the font size of a number inside a device of that size; 0 if it would not be readable. */
export function digitSize(seat: number, most: number): number {
  const letters = count(most).replaceAll(",", "").length;
  const size = Math.min(12, (seat - 3) / (letters * 0.6));
  return size >= kSmallest ? size : 0;
}

/** Returns the seats by drawn device. */
export function seatsOf(root: Box): Seat[] {
  const seats = allBoxes(root).flatMap((box) => box.seats);
  return seats.sort((a, b) => a.device - b.device);
}
