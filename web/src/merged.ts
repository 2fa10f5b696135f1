/** Merges lists into one order that contradicts none of them, if possible: the next name is one that is
 * first in every list that still has it. */
export function merged(lists: string[][]): string[] {
  const all: string[] = [];
  for (let rest = lists.filter((list) => list.length > 0); rest.length > 0; ) {
    const first = rest.map((list) => list[0]);
    const next = first.find((name) => rest.every((list) => list.indexOf(name) <= 0)) ?? first[0];
    all.push(next);
    rest = rest
      .map((list) => list.filter((name) => name !== next))
      .filter((list) => list.length > 0);
  }
  return all;
}
