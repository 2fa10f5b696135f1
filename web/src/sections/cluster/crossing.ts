// Finds the links of the drawing that the groups of a kind cross: those between two members. Devices
// have their own link out of the innermost domain, so a group with one member there does not use the
// domain's links.
import type { Group } from "../../document";
import type { Box, Link } from "./layout";

/** Returns the links crossed by the group with number `only`, or by any group if omitted. */
export function crossed(root: Box, group: Group, only?: number): Set<Link> {
  const found = new Set<Link>();
  const drawn = tally(group, group.of_device.keys());

  /** `folded`: an enclosing box represents several boxes that such a group spans. */
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

/** Counts the devices in each group. */
function tally(group: Group, devices: Iterable<number>): Map<number, number> {
  const found = new Map<number, number>();
  for (const device of devices) {
    const number = group.of_device[device];
    if (number >= 0) found.set(number, (found.get(number) ?? 0) + 1);
  }
  return found;
}
