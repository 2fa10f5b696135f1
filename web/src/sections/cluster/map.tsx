import { useMemo } from "preact/hooks";
import { useCompass } from "../../compass";
import { inkOn } from "../../contrast";
import type { PlanReport, Ranks } from "../../document";
import { type Lit, mood } from "../../focus";
import { kindColor } from "../../palette";
import { badgeOf, badgeWidth, digitSize, fitted, nameOf, seatsOf } from "./fit";
import { allBoxes, type Box, type Seat } from "./layout";
import { strands } from "./strands";
import { seatSentence } from "./words";

interface MapProps {
  plan: PlanReport;
  room: number; // pixels
  colors: string[];
  lit: Lit;
  chosen: number;
  point: (device: number, seat?: Element) => void; // -1: none
  pin: (device: number) => void;
}

/** The cluster as nested boxes, with every drawn device and the links between them. */
export function Map(props: MapProps) {
  const { ranks } = props.plan;
  const root = useMemo(() => fitted(ranks, props.room), [ranks, props.room]);
  const seats = useMemo(() => seatsOf(root), [root]);
  const sentences = useMemo(() => ranks.devices.map((_, i) => seatSentence(ranks, i)), [ranks]);
  const { stop, plane } = useCompass(seats);
  const self = props.lit.groupsOf.size > 0 ? props.chosen : -1;
  const digits = digitSize(seats[0].width, Math.max(...ranks.devices.map((d) => d.rank)));
  return (
    <svg
      class="cluster-map"
      role="group"
      aria-label={`Map of the cluster: ${ranks.words} Arrow keys go from device to device, Enter selects one.`}
      viewBox={`-1 -1 ${root.width + 2} ${root.height + 2}`}
      width={root.width + 2}
      height={root.height + 2}
      onPointerLeave={() => props.point(-1)}
      {...plane}
    >
      <Boxes root={root} ranks={ranks} />
      <g class="strands" aria-hidden="true">
        {strands(root, ranks, props.lit).map((strand) => (
          <path d={strand.path} stroke={kindColor(strand.kind)} />
        ))}
      </g>
      {seats.map((seat, i) => (
        <g
          key={i}
          class={`seat ${mood(props.lit.devices, i)} ${i === self ? "self" : ""}`}
          role="img"
          aria-label={sentences[i]}
          onPointerEnter={(e) => props.point(i, e.currentTarget)}
          onFocus={(e) => props.point(i, e.currentTarget)}
          onBlur={() => props.point(-1)}
          onClick={() => props.pin(i)}
          onKeyDown={(e) => {
            if (e.key !== "Enter" && e.key !== " ") return;
            e.preventDefault();
            props.pin(i);
          }}
          {...stop(i)}
        >
          <Device
            seat={seat}
            rank={ranks.devices[i].rank}
            color={props.colors[i]}
            digits={digits}
          />
          <Outlines seat={seat} kinds={(i !== self && props.lit.groupsOf.get(i)) || []} />
        </g>
      ))}
    </svg>
  );
}

/** The part of the map that does not change with the pointer. */
function Boxes({ root, ranks }: { root: Box; ranks: Ranks }) {
  return useMemo(
    () => (
      <g aria-hidden="true">
        {allBoxes(root).map((box) => (
          <Frame box={box} ranks={ranks} />
        ))}
      </g>
    ),
    [root, ranks],
  );
}

function Frame({ box, ranks }: { box: Box; ranks: Ranks }) {
  const { x, y, width, height, domain } = box;
  const badge = badgeOf(domain);
  const links = box.links.map((l) => `M${l.x} ${l.from}V${box.rails[l.rail].y}`).join("");
  const rails = box.rails.map((r) => `M${r.from} ${r.y}H${r.to}`).join("");
  const last = box.rails[box.rails.length - 1];
  const trunk = box.rails.length > 1 ? `M${box.trunk} ${box.rails[0].y}V${last.y}` : "";
  return (
    <g class={domain.level === 0 ? "frame innermost" : "frame"}>
      {badge && <path class="behind" d={behind(box, 6) + behind(box, 3)} />}
      <rect {...{ x, y, width, height }} rx={domain.level === 0 ? 5 : 8} />
      <path class="link" d={links} />
      <path class="rail" d={rails + trunk} />
      <text x={x + 9} y={y + 15}>
        {nameOf(domain, ranks)}
      </text>
      {badge && (
        <g class="badge">
          <rect
            x={x + width - badgeWidth(badge) - 4}
            y={y + 4}
            width={badgeWidth(badge)}
            height={14}
            rx={7}
          />
          <text x={x + width - badgeWidth(badge) / 2 - 4} y={y + 15} text-anchor="middle">
            {badge}
          </text>
        </g>
      )}
    </g>
  );
}

/** The visible edges of a box behind a folded one. */
function behind({ x, y, width, height }: Box, by: number): string {
  return `M${x + by} ${y + height}v${by - 5}q0 5 5 5h${width - 10}q5 0 5 -5v${10 - height}q0 -5 -5 -5h${-by}`;
}

function Device(props: { seat: Seat; rank: number; color: string; digits: number }) {
  const { x, y, width, height } = props.seat;
  if (props.rank < 0) return <rect class="idle" {...{ x, y, width, height }} rx={3} />;
  return (
    <>
      <rect {...{ x, y, width, height }} rx={3} fill={props.color} />
      {props.digits > 0 && (
        <text
          x={x + width / 2}
          y={y + height / 2 + props.digits * 0.36}
          style={{ fill: inkOn(props.color), fontSize: `${props.digits}px` }}
        >
          {props.rank}
        </text>
      )}
    </>
  );
}

/** One outline with dashes in the colors of all the kinds in turn. */
function Outlines({ seat, kinds }: { seat: Seat; kinds: string[] }) {
  return (
    <>
      {kinds.map((kind, i) => (
        <rect
          class="outline"
          x={seat.x - 1.5}
          y={seat.y - 1.5}
          width={seat.width + 3}
          height={seat.height + 3}
          rx={4}
          stroke={kindColor(kind)}
          pathLength={4 * kinds.length}
          stroke-dasharray={kinds.length > 1 ? `1 ${kinds.length - 1}` : undefined}
          stroke-dashoffset={-i}
        />
      ))}
    </>
  );
}
