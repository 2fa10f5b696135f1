import type { Point } from "../../document";

type Role = Point["role"];

/** The roles in the order of the legend, in the words and shapes of rankwright/report/page/why_not_svg.cc;
 * those that are labelled first stand first too. Their colours are in why_not.css. */
export const kRoles: { role: Role; name: string; shape: string }[] = [
  { role: "this", name: "this plan", shape: "M0-7L7 0L0 7L-7 0Z" },
  {
    role: "best",
    name: "what the search would run, and the fastest",
    shape: "M0-7l2 5h5l-4 3l2 5.5l-5-3.5l-5 3.5l2-5.5l-4-3h5Z",
  },
  { role: "safe", name: "fits whatever the ledger's error", shape: "M-5.5-4.5h11l-5.5 9.5Z" },
  { role: "neighbour", name: "one thing chosen otherwise", shape: "M-5.5 4.5h11l-5.5-9.5Z" },
  { role: "tie", name: "within the model's error of the fastest", shape: "M-4-4h8v8h-8Z" },
  {
    role: "front",
    name: "nothing faster takes less memory",
    shape: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
  },
];

export const shapeOf = (role: Role) => kRoles.find((r) => r.role === role)!.shape;

/** In the table and on the drawing: the change is what people ask for. */
export function nameOf(point: Point): string {
  if (point.role === "this") return "this plan";
  return point.change || point.role;
}

/** What is written beside a mark, the longest first. Of a tie or one of the front there is only its
 * layout to say, and that is in the table. */
export function labelsOf(point: Point): string[] {
  if (point.role === "tie" || point.role === "front") return [];
  if (point.role === "best" || point.role === "safe")
    return [`${point.because}: ${point.brief}`, point.because, point.role];
  return [nameOf(point)];
}
