// Which links of the drawing the groups of a kind cross: those between a member and another. Devices
// have a way of their own out of the innermost domain, so a group with one member there does not use
// what joins it.
import type { Group } from "../../document";
import type { Box, Link } from "./layout";

/** Those crossed by the group of number `only`, or by any where it is missing. */
export function crossed(root: Box, group: Group, only?: number): Set<Link> {
  const found = new Set<Link>();
  const drawn = tally(group, group.of_device.keys());

  /** `folded`: a box around stands for several that such a group joins. */
  const visit = (box: Box, folded: boolean) => {
    const inBox = tally(
      group,
      box.links.flatMap((link) => link.devices),
    );
    for (const link of box.links) {
      const inside = tally(group, link.devices);
      if (only === undefined ? [...inside.keys()].some(leaves) : inside.has(only) && leaves(only))
        found.add(link);

      function leaves(number: number): boolean {
        const here = inside.get(number)!;
        if (inBox.get(number)! > here) return true;
        if (link.level === 0 || link.level > group.level) return false;
        return drawn.get(number)! > here || link.count > 1 || folded;
      }
    }
    for (const inner of box.boxes) visit(inner, folded || folds(inner, group));
  };
  visit(root, folds(root, group));
  return found;
}

const folds = (box: Box, group: Group) => box.domain.count > 1 && box.domain.level < group.level;

/** How many of the devices are in each group. */
function tally(group: Group, devices: Iterable<number>): Map<number, number> {
  const found = new Map<number, number>();
  for (const device of devices) {
    const number = group.of_device[device];
    if (number >= 0) found.set(number, (found.get(number) ?? 0) + 1);
  }
  return found;
}
