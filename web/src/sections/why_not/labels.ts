// Places labels next to marks so that they cover neither marks nor other labels. Earlier marks are
// placed first; a mark without room has no label.

export interface Rect {
  left: number;
  top: number;
  right: number;
  bottom: number;
}
export interface Mark {
  x: number;
  y: number;
  texts: string[]; // possible labels, best first; none: no label
  bounds?: Rect; // where its label may be; everywhere if omitted
  must: boolean; // may be placed far away, with a line, rather than left out
}
export interface Placed {
  text: string;
  x: number; // of the text's start, end or middle
  y: number; // of the baseline
  anchor: "start" | "middle" | "end";
  far: boolean;
}

const kRadius = 8; // pixels of a mark
const kGap = 4; // between a mark and its label
const kLetter = 6.8; // average pixels per bold letter
const kHeight = 13;
const kApart = 3; // pixels between neighboring labels
const kDrop = 4; // from the middle of text to its baseline
const kFar = [24, 40, 60, 85, 115]; // pixels to labels that are placed far away

type Side = [x: number, y: number];
/** Right of the mark, left, above, below. */
const kSides: Side[] = [
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
];
const kCorners: Side[] = [
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
];

/** Returns by mark the position of its label, or null. `kept` are other areas that labels may not cover. */
export function placeLabels(marks: Mark[], bounds: Rect, kept: Rect[]): (Placed | null)[] {
  const taken = [...kept, ...marks.map(({ x, y }) => around(x, y, kRadius, kRadius))];
  const free = (box: Rect, own: Rect) =>
    within(box, bounds) && within(box, own) && !taken.some((other) => overlap(spaced(box), other));
  return marks.map((mark) => {
    const found = places(mark).find(({ box }) => free(box, mark.bounds ?? bounds));
    if (!found) return null;
    taken.push(found.box, ...(found.placed.far ? alongLine(mark, found.placed) : []));
    return found.placed;
  });
}

/** Returns the end of the line from a mark to a distant label. */
export function lineEnd(mark: { y: number }, placed: Placed): { x: number; y: number } {
  return { x: placed.x, y: placed.y > mark.y ? placed.y - kDrop - kHeight / 2 : placed.y + kDrop };
}

/** Returns the area of such a line. */
function alongLine(mark: Mark, placed: Placed): Rect[] {
  const end = lineEnd(mark, placed);
  const steps = Array.from({ length: 9 }, (_, i) => i / 8);
  return steps.map((s) =>
    around(mark.x + s * (end.x - mark.x), mark.y + s * (end.y - mark.y), 3, 3),
  );
}

interface Place {
  box: Rect;
  placed: Placed;
}

/** Returns all candidate positions of a mark's label, best first. The last text is short, for when no
 * other has room even far away. */
function places(mark: Mark): Place[] {
  const near = (text: string) => [...kSides, ...kCorners].map((at) => placeAt(mark, text, at, 0));
  if (!mark.must) return mark.texts.flatMap(near);
  const texts = mark.texts.slice(0, -1);
  const last = mark.texts.slice(-1);
  const far = (text: string, away: number) => kCorners.map((at) => placeAt(mark, text, at, away));
  return [
    ...texts.flatMap(near),
    ...kFar.flatMap((away) => texts.flatMap((text) => far(text, away))),
    ...last.flatMap(near),
    ...kFar.flatMap((away) => last.flatMap((text) => far(text, away))),
  ];
}

function placeAt({ x, y }: Mark, text: string, [right, down]: Side, away: number): Place {
  const width = text.length * kLetter;
  const gap = right !== 0 && down !== 0 ? 0 : kGap;
  const box = around(
    x + right * (kRadius + gap + away / 2 + width / 2),
    y + down * (kRadius + kHeight / 2 + away),
    width / 2,
    kHeight / 2,
  );
  const at = {
    text,
    y: (box.top + box.bottom) / 2 + kDrop,
    far: away > 0,
  };
  if (right > 0) return { box, placed: { ...at, x: box.left, anchor: "start" } };
  if (right < 0) return { box, placed: { ...at, x: box.right, anchor: "end" } };
  return { box, placed: { ...at, x: (box.left + box.right) / 2, anchor: "middle" } };
}

function around(x: number, y: number, dx: number, dy: number): Rect {
  return { left: x - dx, right: x + dx, top: y - dy, bottom: y + dy };
}
/** Returns a box with the space that keeps labels from running together. */
function spaced(box: Rect): Rect {
  return { left: box.left - kApart, right: box.right + kApart, top: box.top - 1, bottom: box.bottom + 1 };
}
function within(a: Rect, b: Rect): boolean {
  return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
}
export function overlap(a: Rect, b: Rect): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
