import { useMemo, useState } from "preact/hooks";
import { cite } from "../cite";
import type { Group, PlanReport } from "../document";
import { mood, nothing, type Point, type SectionProps } from "../focus";
import { bytesPerSecond, count, seconds } from "../format";
import { Section } from "../section";
import { hideTip, pointing, showTip } from "../tooltip";
import { useWidth } from "../width";
import { chartColor, deviceColors, kColors } from "./cluster/colors";
import { kNarrow } from "./cluster/fit";
import { Map } from "./cluster/map";
import { Panel } from "./cluster/panel";
import { seatSentence } from "./cluster/words";
import "./cluster/cluster.css";

/** The placement: every rank on its device, the devices inside their domains. */
export function Cluster({ plan, at, lit, point, pinned }: SectionProps) {
  const { ranks } = plan;
  const { element, width } = useWidth<HTMLDivElement>();
  const [kind, setKind] = useState("pp");
  const [device, setDevice] = useState(0);
  const [hovering, setHovering] = useState(false);
  const group = ranks.groups.find((g) => g.kind === kind) ?? ranks.groups[0];
  const colors = useMemo(() => deviceColors(ranks, group), [ranks, group]);
  // The pinned device stays in the panel unless another is pointed at.
  const shown = hovering || pinned.on !== "device" ? device : pinned.device;
  const chosen = Math.min(shown, ranks.devices.length - 1);
  const pointAt = (d: number, seat?: Element) => {
    point(d < 0 ? nothing : { on: "device", device: d });
    setHovering(d >= 0);
    if (!seat) return hideTip();
    setDevice(d);
    if (width < kNarrow) showTip(seat, seatSentence(ranks, d)); // the panel below is out of view
  };
  return (
    <Section id="cluster" title="Cluster" lead={ranks.words}>
      {group && <Choice groups={ranks.groups} chosen={group} choose={setKind} point={point} />}
      <div ref={element}>
        {width > 0 && <Map {...{ plan, colors, lit, chosen }} room={width - 2} point={pointAt} pin={(d) => point.pin({ on: "device", device: d })} />}
      </div>
      <Levels {...{ plan, at, lit, point }} />
      <Panel {...{ plan, at, point }} device={chosen} />
    </Section>
  );
}

/** Selects the groups by which devices are colored. */
function Choice(props: {
  groups: Group[];
  chosen: Group;
  choose: (kind: string) => void;
  point: Point;
}) {
  return (
    <div class="cluster-choice">
      <fieldset>
        <legend>Color by</legend>
        {props.groups.map((group) => (
          <label
            onPointerEnter={() => props.point({ on: "kind", kind: group.kind })}
            onPointerLeave={() => props.point(nothing)}
          >
            <input
              type="radio"
              name="cluster-kind"
              checked={group === props.chosen}
              onChange={() => props.choose(group.kind)}
            />
            <span>{group.kind}</span>
          </label>
        ))}
      </fieldset>
      <Key group={props.chosen} />
    </div>
  );
}

/** The legend of the colors. */
function Key({ group }: { group: Group }) {
  if (group.kind !== "pp")
    return (
      <span class="quiet">
        Devices of one {group.kind} group have one color
        {group.count > kColors && "; other groups may have the same"}.
      </span>
    );
  const drawn = Math.min(group.size, kColors);
  return (
    <span class="ramp">
      pp 0
      <span aria-hidden="true">
        {Array.from({ length: drawn }, (_, i) => (
          <i style={{ background: chartColor(i) }} />
        ))}
      </span>
      {drawn - 1}
      {group.size > drawn && "; the next are the same again"}
    </span>
  );
}

/** The levels of the network, innermost first. */
function Levels(props: Pick<SectionProps, "plan" | "at" | "lit" | "point">) {
  const { plan, at, lit, point } = props;
  return (
    <ul class="cluster-levels">
      {plan.explain.cluster.levels.map((level, l) => {
        const path = `${at}.explain.cluster.levels.${l}`;
        return (
          <li
            class={mood(lit.levels, l)}
            tabIndex={0}
            {...pointing(point, { on: "level", level: l })}
          >
            <b>{level.name}</b> joins {count(level.arity)} {childrenOf(plan, l)}
            <div class="quiet">
              <span
                {...cite(`${path}.bandwidth_bytes_per_second`, level.bandwidth_bytes_per_second)}
              >
                {bytesPerSecond(level.bandwidth_bytes_per_second)}
              </span>{" "}
              per {level.per}, {level.bandwidth_origin} ·{" "}
              <span {...cite(`${path}.latency_seconds`, level.latency_seconds)}>
                {seconds(level.latency_seconds)}
              </span>
              {level.oversubscription > 1 &&
                ` · oversubscribed ${count(level.oversubscription)} to 1`}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function childrenOf(plan: PlanReport, level: number): string {
  if (level === 0) return "devices";
  return `${plan.ranks.levels[level - 1]} domains`;
}
