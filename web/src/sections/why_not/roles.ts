import type { Point } from "../../document";

type Role = Point["role"];

/** The roles in the order of the legend, with the names and shapes of
 * rankwright/report/page/why_not_svg.cc; this is also the order of labeling. Their colors are in
 * why_not.css. */
export const kRoles: { role: Role; name: string; shape: string }[] = [
  { role: "this", name: "this plan", shape: "M0-7L7 0L0 7L-7 0Z" },
  {
    role: "best",
    name: "best of the search, and the fastest",
    shape: "M0-7l2 5h5l-4 3l2 5.5l-5-3.5l-5 3.5l2-5.5l-4-3h5Z",
  },
  { role: "safe", name: "fits with margin", shape: "M-5.5-4.5h11l-5.5 9.5Z" },
  { role: "neighbour", name: "one key changed", shape: "M-5.5 4.5h11l-5.5-9.5Z" },
  { role: "tie", name: "within the margin of error of the fastest", shape: "M-4-4h8v8h-8Z" },
  {
    role: "front",
    name: "nothing faster takes less memory",
    shape: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
  },
];

export const shapeOf = (role: Role) => kRoles.find((r) => r.role === role)!.shape;

/** Returns the name of a point in the table and the drawing: its change, if it has one. */
export function nameOf(point: Point): string {
  if (point.role === "this") return "this plan";
  return point.change || point.role;
}

/** Returns the possible labels of a mark, longest first. Ties and points of the front have none, because
 * the table has their layout. */
export function labelsOf(point: Point): string[] {
  if (point.role === "tie" || point.role === "front") return [];
  if (point.role === "best" || point.role === "safe")
    return [`${point.because}: ${point.brief}`, point.because, point.role];
  return [nameOf(point)];
}
