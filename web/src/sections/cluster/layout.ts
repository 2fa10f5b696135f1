// Computes the positions of the map's domains, devices and links as nested boxes. A domain is a box; its
// children, domains or devices, are inside in rows, each row under a rail, which represents the switch or
// the links of the domain's level. Every child has a link up to its rail; a trunk connects the rails.
// map.tsx draws them.
import type { Domain } from "../../document";

export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Box extends Place {
  domain: Domain;
  rails: Rail[];
  trunk: number; // x, if there are several rails
  links: Link[];
  boxes: Box[];
  seats: Seat[];
}
/** A device. */
export interface Seat extends Place {
  device: number; // index in Ranks.devices
}
/** A line from the first link, or the trunk, to the last; to the box's edge if not all children are
 * drawn. */
export interface Rail {
  y: number;
  from: number; // x
  to: number;
}
/** A line from a child to the rail above it. */
export interface Link {
  level: number; // of the parent domain
  count: number; // domains that the child represents
  devices: number[]; // under the child
  x: number;
  from: number; // y: the child's top, or its first rail if both are switches
  rail: number; // index in the box's rails
}

/** Lengths in pixels. */
export interface Sizes {
  seat: number;
  columns: number; // of devices, at most
  gap: number; // between devices
  pad: number; // between a box and the boxes inside
  edge: number; // between an innermost box and its devices
  rise: number; // of a link between boxes
  head: number; // a line of text above a box's first rail
  stack: number; // width of the edges of boxes behind a folded one
  least: (domain: Domain) => number; // minimum width, for a domain's label
}

const kSeatRise = 7; // of a link to a device
const kTrunk = 8; // room for a trunk

export function layOut(domain: Domain, room: number, sizes: Sizes): Box {
  return place(domain, room - stackOf(domain, sizes), sizes);
}

/** Returns the devices under a domain. */
export function devicesUnder(domain: Domain): number[] {
  return [...domain.devices, ...domain.domains.flatMap(devicesUnder)];
}

/** Returns whether all rows of all boxes are full. */
export function isEven(box: Box): boolean {
  const each = box.rails.map((_, r) => box.links.filter((link) => link.rail === r).length);
  return each.every((n) => n === each[0]) && box.boxes.every(isEven);
}

/** Returns all boxes, outermost first. */
export function allBoxes(box: Box): Box[] {
  return [box, ...box.boxes.flatMap(allBoxes)];
}

const stackOf = (domain: Domain, sizes: Sizes) => (domain.count > 1 ? sizes.stack : 0);

/** A child with its top left corner at 0, and the space that it needs beyond its edges. */
interface Child {
  place: Box | Seat;
  beyond: number;
}
interface Between {
  pad: number;
  gap: number;
  rise: number;
}

function place(domain: Domain, room: number, sizes: Sizes): Box {
  const innermost = domain.domains.length === 0;
  const pad = innermost ? sizes.edge : sizes.pad;
  const inner = room - 2 * pad - kTrunk;
  const gap = innermost ? sizes.gap : sizes.pad;
  const children: Child[] = innermost
    ? domain.devices.map((device) => ({ place: seat(device, sizes.seat), beyond: 0 }))
    : domain.domains.map((d) => ({
        place: layOut(d, inner, sizes),
        beyond: stackOf(d, sizes),
      }));
  const rows = inRows(children, inner, gap, innermost ? sizes.columns : Infinity);
  return assemble(domain, rows, { pad, gap, rise: innermost ? kSeatRise : sizes.rise }, sizes);
}

function seat(device: number, size: number): Seat {
  return { device, x: 0, y: 0, width: size, height: size };
}

/** Splits children into as few rows as fit, as evenly as possible: 8 with room for 5 are 4 and 4. */
function inRows(children: Child[], room: number, gap: number, most: number): Child[][] {
  const widest = Math.max(0, ...children.map((c) => c.place.width + c.beyond));
  const fit = Math.max(1, Math.min(most, Math.floor((room + gap) / (widest + gap))));
  const rows = Math.ceil(children.length / fit);
  const each = Math.ceil(children.length / rows);
  return Array.from({ length: rows }, (_, r) => children.slice(r * each, (r + 1) * each));
}

/** Stacks rows, and returns the box around them. */
function assemble(domain: Domain, rows: Child[][], between: Between, sizes: Sizes): Box {
  const { pad, gap, rise } = between;
  const left = pad + (rows.length > 1 ? kTrunk : 0);
  const box: Box = {
    domain,
    ...{ x: 0, y: 0, width: 0, height: 0 },
    rails: [],
    trunk: left - kTrunk / 2,
    links: [],
    boxes: [],
    seats: [],
  };
  let right = left;
  let y = sizes.head;
  rows.forEach((row, r) => {
    const top = y + rise;
    let x = left;
    let bottom = top;
    for (const { place: child, beyond } of row) {
      shift(child, x, top);
      const under = isSeat(child) ? [child.device] : devicesUnder(child.domain);
      box.links.push({
        level: domain.level,
        count: isSeat(child) ? 1 : child.domain.count,
        devices: under,
        x: child.x + child.width / 2,
        from: isSeat(child) || child.domain.level === 0 ? child.y : child.rails[0].y,
        rail: r,
      });
      if (isSeat(child)) box.seats.push(child);
      else box.boxes.push(child);
      x += child.width + beyond + gap;
      bottom = Math.max(bottom, top + child.height + beyond);
    }
    right = Math.max(right, x - gap);
    const first = box.links.find((link) => link.rail === r)!.x;
    const last = box.links[box.links.length - 1].x;
    box.rails.push({ y, from: rows.length > 1 ? box.trunk : first, to: last });
    y = bottom + gap;
  });
  box.width = Math.max(right + pad, sizes.least(domain));
  box.height = y - gap + pad;
  for (const link of box.links) if (link.count > 1) box.rails[link.rail].to = right;
  return box;
}

const isSeat = (child: Box | Seat): child is Seat => "device" in child;

function shift(child: Box | Seat, dx: number, dy: number) {
  child.x += dx;
  child.y += dy;
  if (isSeat(child)) return;
  child.trunk += dx;
  for (const rail of child.rails) {
    rail.y += dy;
    rail.from += dx;
    rail.to += dx;
  }
  for (const link of child.links) {
    link.x += dx;
    link.from += dy;
  }
  for (const inner of [...child.boxes, ...child.seats]) shift(inner, dx, dy);
}
