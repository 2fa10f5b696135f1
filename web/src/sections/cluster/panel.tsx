import { useMemo } from "preact/hooks";
import { cite } from "../../cite";
import type { Group, PlanReport } from "../../document";
import { calledBy, type Point } from "../../focus";
import { bytes, count, plural, seconds } from "../../format";
import { kindColor } from "../../palette";
import { pointing } from "../../tooltip";
import { axesOf, deviceName, standsFor } from "./words";

interface PanelProps {
  plan: PlanReport;
  at: string;
  device: number;
  point: Point;
}

/** Details of a device: its rank, its groups, and their traffic. As high as for the device with most of
 * them, so that nothing below moves. */
export function Panel(props: PanelProps) {
  const { devices } = props.plan.ranks;
  const largest = useMemo(() => {
    const size = (d: number) => devices[d].collectives.length;
    return devices.reduce((best, _, d) => (size(d) > size(best) ? d : best), 0);
  }, [devices]);
  return (
    <div class="cluster-panels">
      <div class="largest" aria-hidden="true" inert>
        <Details {...props} device={largest} sample />
      </div>
      <Details {...props} />
    </div>
  );
}

function Details({ plan, at, device, point, sample }: PanelProps & { sample?: boolean }) {
  const { ranks } = plan;
  const d = ranks.devices[device];
  const path = `${at}.ranks.devices.${device}`;
  return (
    <aside
      class={sample ? "cluster-panel sample" : "cluster-panel"}
      aria-label={sample ? "Largest device" : "The selected device"}
    >
      <div class="who">
        <h3 {...cite(`${path}.rank`, d.rank)}>{deviceName(d)}</h3>
        <span>
          node <b {...cite(`${path}.host`, d.host)}>{d.host}</b> · slot{" "}
          <b {...cite(`${path}.slot`, d.slot)}>{d.slot}</b>
        </span>
        {d.rank >= 0 &&
          axesOf(ranks).map((axis) => (
            <span>
              {axis} <b {...cite(`${path}.${axis}`, d[axis])}>{d[axis]}</b>
            </span>
          ))}
        {d.stands_for > 1 && (
          <span class="quiet" {...cite(`${path}.stands_for`, d.stands_for)}>
            {standsFor(d)}
          </span>
        )}
      </div>
      {d.rank >= 0 && (
        <div class="memberships">
          {ranks.groups.map((group, g) => (
            <div
              class="membership"
              tabIndex={0}
              style={{ borderColor: kindColor(group.kind) }}
              {...pointing(point, { on: "device", device, kind: group.kind })}
            >
              <GroupWords
                plan={plan}
                at={at}
                group={{ ...group, collectives: calledBy(d, group) }}
                others={group.collectives}
                ppRank={d.pp}
                path={`${at}.ranks.groups.${g}`}
              />
            </div>
          ))}
        </div>
      )}
    </aside>
  );
}

function GroupWords(props: {
  plan: PlanReport;
  at: string;
  group: Group; // with only the collectives that the device calls
  others: number[]; // collectives that any such group calls
  ppRank: number;
  path: string;
}) {
  const { plan, at, group, path } = props;
  return (
    <>
      <div>
        <b>{group.kind}</b>{" "}
        <span {...cite(`${path}.size`, group.size)}>of {count(group.size)}</span>: {group.spans}{" "}
        <span class="quiet" {...cite(`${path}.count`, group.count)}>
          ({plural(group.count, "group", "groups")} in all)
        </span>
      </div>
      {group.collectives.length === 0 && props.others.length > 0 && (
        <div class="quiet">
          PP rank {props.ppRank} calls none:{" "}
          {props.others.map((c) => plan.explain.communication[c].communication).join(", ")} is on
          other PP ranks
        </div>
      )}
      {group.collectives.length > 0 && (
        <table class="plain">
          <tbody>
            {group.collectives.map((c) => {
              const row = plan.explain.communication[c];
              const of = `${at}.explain.communication.${c}`;
              return (
                <tr>
                  <td>{row.communication}</td>
                  <td class="number">
                    <span {...cite(`${of}.calls`, row.calls)}>{count(row.calls)}</span> x{" "}
                    <span {...cite(`${of}.bytes`, row.bytes)}>{bytes(row.bytes)}</span>
                  </td>
                  <td class="quiet">{row.level}</td>
                  <td class="number" {...cite(`${of}.seconds`, row.seconds)}>
                    {seconds(row.seconds)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </>
  );
}
