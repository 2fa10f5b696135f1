import type { Point } from "../../document";

type Role = Point["role"];

/** The roles in the order of the legend; those that are labelled first stand first too. */
export const kRoles: { role: Role; name: string; shape: string }[] = [
  { role: "this", name: "this plan", shape: "M0-8L8 0L0 8L-8 0Z" },
  { role: "best", name: "what the search would run", shape: circle(6.5) },
  { role: "safe", name: "fits whatever the error", shape: "M-5.5-5.5H5.5V5.5H-5.5Z" },
  { role: "tie", name: "within the error of the fastest", shape: circle(5) },
  { role: "neighbour", name: "one change away", shape: "M0-6.5L6 4.5H-6Z" },
  { role: "front", name: "nothing faster takes less memory", shape: circle(3) },
];

function circle(r: number): string {
  return `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
}

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
