// The paths of groups through the drawing: one strand per kind along the links that it crosses, side by
// side if several kinds cross the same link.
import type { Group, Ranks } from "../../document";
import type { Lit } from "../../focus";
import { crossed } from "./crossing";
import { allBoxes, type Box, type Link } from "./layout";

export interface Strand {
  kind: string;
  path: string; // SVG path
}

const kStep = 3; // pixels from one strand to the next

/** The links of a kind, and whether its groups continue in domains that are not drawn. */
interface Way {
  kind: string;
  links: Set<Link>;
  beyond: boolean;
}

/** Returns the strands of what is lit: the groups of a device, of some kinds, or of some levels. */
export function strands(root: Box, ranks: Ranks, lit: Lit): Strand[] {
  const ways = ranks.groups.filter((g) => lit.kinds.has(g.kind)).map((g) => wayOf(root, g, lit));
  const paths = ways.map(() => "");
  for (const box of allBoxes(root)) {
    const here = ways.filter((way) => box.links.some((link) => way.links.has(link)));
    here.forEach((way, i) => {
      const aside = (i - (here.length - 1) / 2) * kStep;
      paths[ways.indexOf(way)] += inBox(box, way, aside);
    });
  }
  return ways.map(({ kind }, i) => ({ kind, path: paths[i] })).filter((strand) => strand.path);
}

function wayOf(root: Box, group: Group, lit: Lit): Way {
  const number = numberOf(group, lit);
  const drawn = group.of_device.filter((n) => n === (number ?? 0)).length;
  const levels = [...lit.levels];
  const links = [...crossed(root, group, number)].filter(
    ({ level }) =>
      number !== undefined ||
      levels.length === 0 ||
      (level >= Math.min(...levels) && level <= Math.max(...levels)),
  );
  return { kind: group.kind, links: new Set(links), beyond: drawn < group.size };
}

/** Returns the group number of the focused device: devices lit by its kind are members. */
function numberOf(group: Group, lit: Lit): number | undefined {
  for (const [device, kinds] of lit.groupsOf)
    if (kinds.includes(group.kind)) return group.of_device[device];
}

/** Returns the path up the links, along the needed part of the rails, and along the trunk between rails. */
function inBox(box: Box, way: Way, aside: number): string {
  const links = box.links.filter((link) => way.links.has(link));
  const rows = [...new Set(links.map((link) => link.rail))];
  const up = links.map((l) => `M${l.x + aside} ${l.from}V${box.rails[l.rail].y + aside}`);
  const along = rows.map((row) => {
    const on = links.filter((link) => link.rail === row);
    const rail = box.rails[row];
    const copies = way.beyond && on.some((link) => link.count > 1);
    const from = rows.length > 1 ? box.trunk : Math.min(...on.map((l) => l.x));
    const to = copies ? rail.to : Math.max(...on.map((l) => l.x));
    return `M${from + aside} ${rail.y + aside}H${to + aside}`;
  });
  const ys = rows.map((row) => box.rails[row].y + aside);
  const trunk =
    rows.length > 1 ? `M${box.trunk + aside} ${Math.min(...ys)}V${Math.max(...ys)}` : "";
  return up.join("") + along.join("") + trunk;
}
