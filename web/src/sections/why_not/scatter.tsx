import { useMemo } from "preact/hooks";
import { cite } from "../../cite";
import { useCompass } from "../../compass";
import type { Point } from "../../document";
import { memory, seconds } from "../../format";
import { useWidth } from "../../width";
import { lineEnd, type Mark, type Placed, placeLabels, type Rect } from "./labels";
import { kRoles, labelsOf, shapeOf } from "./roles";
import { frontOf, rangeOf, type Scales, scalesOf, type Spot, spotOf } from "./scales";
import { pointSentence } from "./words";

const kAround = { left: 52, right: 14, top: 44, bottom: 40 }; // pixels
const kWide = 600; // pixels

interface ScatterProps {
  points: Point[];
  device: string; // its name
  capacity: number; // bytes per device; 0: unknown
  capacityPath: string;
  hovered: number; // -1: none
  hover: (point: number, mark?: Element) => void;
  open: (point: number) => void;
}

/** Plans by memory and time: those left of the line fit, lower ones are faster. */
export function Scatter(props: ScatterProps) {
  const { element, width } = useWidth<HTMLDivElement>();
  return (
    <div ref={element} class="scatter">
      {width > 0 && <Drawing {...props} width={width} />}
    </div>
  );
}

function Drawing(props: ScatterProps & { width: number }) {
  const { points, capacity, width } = props;
  const height = width < kWide ? 340 : 430;
  const right = width - kAround.left - kAround.right;
  const bottom = height - kAround.top - kAround.bottom;
  const { scales, spots, labels, logarithmic } = useMemo(
    () => arranged(points, capacity, right, bottom),
    [points, capacity, right, bottom],
  );
  const { stop, plane } = useCompass(spots);
  const self = points.findIndex((point) => point.role === "this");
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="group"
      aria-label="Plans by memory and time. Arrow keys go from plan to plan, Enter opens one."
      {...plane}
    >
      <g transform={`translate(${kAround.left} ${kAround.top})`}>
        <g aria-hidden="true">
          <Axes {...{ scales, right, bottom, logarithmic }} />
          {capacity > 0 && (
            <Limit {...props} x={scales.x(capacity)} right={right} bottom={bottom} />
          )}
          {self >= 0 && <path class="as-fast" d={`M0 ${spots[self].y}H${right}`} />}
          <path class="front-line" d={stairs(frontOf(points).map((i) => spots[i]))} />
        </g>
        {byRole(points).map((i) => (
          <g
            key={i}
            class={`plan ${points[i].role} ${points[i].fits ? "" : "misfit"} ${i === props.hovered ? "hovered" : ""}`}
            role="button"
            aria-label={pointSentence(points[i])}
            onPointerEnter={(e) => props.hover(i, e.currentTarget)}
            onPointerLeave={() => props.hover(-1)}
            onFocus={(e) => props.hover(i, e.currentTarget)}
            onBlur={() => props.hover(-1)}
            onClick={() => props.open(i)}
            onKeyDown={(e) => {
              if (e.key !== "Enter" && e.key !== " ") return;
              e.preventDefault();
              props.open(i);
            }}
            {...stop(i)}
          >
            <PointMark point={points[i]} spot={spots[i]} />
          </g>
        ))}
        {labels.map(
          (label, i) => label && <Label {...label} role={points[i].role} at={spots[i]} />,
        )}
      </g>
    </svg>
  );
}

function arranged(points: Point[], capacity: number, right: number, bottom: number) {
  const memories = rangeOf(points, "memory_bytes", capacity);
  const steps = rangeOf(points, "step_seconds");
  const scales = scalesOf(memories, steps, right, bottom);
  const spots = points.map((point) => spotOf(point, scales, memories, steps));
  const limit = scales.x(capacity);
  const kept = alongFront(frontOf(points).map((i) => spots[i]));
  if (capacity > 0) kept.push({ left: limit - 3, right: limit + 3, top: 0, bottom });
  const bounds = { left: 0, top: 0, right, bottom: bottom - 6 }; // above the axis
  // A label inside the area that does not fit would claim that its plan does not.
  const sideOf = (point: Point) =>
    capacity <= 0
      ? bounds
      : point.memory_bytes <= capacity
        ? { ...bounds, right: limit }
        : { ...bounds, left: limit };
  return {
    scales,
    spots,
    labels: labelled(points, spots, bounds, kept, sideOf),
    logarithmic: { x: memories.log, y: steps.log },
  };
}

/** Returns the label by point, or null. */
function labelled(
  points: Point[],
  spots: Spot[],
  bounds: Rect,
  kept: Rect[],
  sideOf: (point: Point) => Rect,
): (Placed | null)[] {
  const order = byRole(points).reverse();
  const marks: Mark[] = order.map((i) => ({
    ...spots[i],
    texts: labelsOf(points[i]).map((text) => text + beyond(points[i], spots[i])),
    bounds: sideOf(points[i]),
    must: points[i].role === "this" || points[i].role === "best",
  }));
  const placed = placeLabels(marks, bounds, kept);
  return points.map((_, i) => placed[order.indexOf(i)]);
}

/** Returns indices, most important last: those are drawn over the others. */
function byRole(points: Point[]): number[] {
  const rank = (i: number) => kRoles.findIndex((r) => r.role === points[i].role);
  return points.map((_, i) => i).sort((a, b) => rank(b) - rank(a) || b - a);
}

/** Returns the values of a point beyond the edge, as a suffix of its label. */
function beyond(point: Point, spot: Spot): string {
  const figures = [
    ...(spot.right ? [memory(point.memory_bytes)] : []),
    ...(spot.above ? [seconds(point.step_seconds)] : []),
  ];
  return figures.length > 0 ? `, ${figures.join(", ")}` : "";
}

function Label(props: Placed & { role: string; at: Spot }) {
  const end = lineEnd(props.at, props);
  return (
    <g class={`label ${props.role}`} aria-hidden="true">
      {props.far && <path d={`M${props.at.x} ${props.at.y}L${end.x} ${end.y}`} />}
      <text x={props.x} y={props.y} text-anchor={props.anchor}>
        {props.text}
      </text>
    </g>
  );
}

function PointMark({ point, spot }: { point: Point; spot: Spot }) {
  return (
    <g transform={`translate(${spot.x} ${spot.y})`}>
      <circle class="reach" r={12} />
      <path class="shape" d={shapeOf(point.role)} />
      {spot.right && <path class="arrow" d="M11 -4L15 0L11 4" />}
      {spot.above && <path class="arrow" d="M-4 -11L0 -15L4 -11" />}
    </g>
  );
}

function Axes(props: {
  scales: Scales;
  right: number;
  bottom: number;
  logarithmic: { x: boolean; y: boolean };
}) {
  const { scales, right, bottom, logarithmic } = props;
  return (
    <g class="axes">
      {scales.yTicks.map((tick) => (
        <g transform={`translate(0 ${scales.y(tick)})`}>
          <path d={`M0 0H${right}`} />
          <text x={-8} y={4} text-anchor="end">
            {seconds(tick)}
          </text>
        </g>
      ))}
      {scales.xTicks.map((tick) => (
        <g transform={`translate(${scales.x(tick)} ${bottom})`}>
          <path d="M0 0V5" />
          <text y={18} text-anchor="middle">
            {memory(tick)}
          </text>
        </g>
      ))}
      <path class="base" d={`M0 ${bottom}H${right}`} />
      <text x={-kAround.left} y={-30}>
        step{logarithmic.y && " (log scale)"}: lower is better
      </text>
      <text x={right} y={bottom + 34} text-anchor="end">
        memory of the fullest device{logarithmic.x && " (log scale)"}
      </text>
    </g>
  );
}

/** The device's memory limit, and the area beyond it. */
function Limit(props: ScatterProps & { x: number; right: number; bottom: number }) {
  const { x, right, bottom, device, capacity } = props;
  const room = right - x > 130;
  return (
    <g class="limit">
      <rect x={x} width={Math.max(0, right - x)} height={bottom} />
      <path d={`M${x} -6V${bottom}`} />
      <text
        x={room ? x + 6 : x - 6}
        y={-10}
        text-anchor={room ? "start" : "end"}
        {...cite(props.capacityPath, capacity)}
      >
        {device} has {memory(capacity)}
      </text>
    </g>
  );
}

/** Returns the areas that the front's steps cover. */
function alongFront(spots: Spot[]): Rect[] {
  return spots.slice(1).flatMap(({ x, y }, i) => [
    { left: spots[i].x, right: x, top: spots[i].y - 1, bottom: spots[i].y + 1 },
    { left: x - 1, right: x + 1, top: spots[i].y, bottom: y },
  ]);
}

/** Returns the front as steps: horizontal while a plan is the fastest for its memory, then down to the
 * next. */
function stairs(spots: Spot[]): string {
  return spots.map(({ x, y }, i) => (i === 0 ? `M${x} ${y}` : `H${x}V${y}`)).join("");
}
