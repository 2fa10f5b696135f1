import { scaleSqrt } from "d3-scale";
import { cite } from "../cite";
import type { Communication as Row, PlanReport } from "../document";
import { mood, type SectionProps } from "../focus";
import { bytes, bytesPerSecond, count, digits, plural, seconds } from "../format";
import { kindColor } from "../palette";
import { useRoving } from "../roving";
import { Section } from "../section";
import { Table } from "../table";
import { pointing } from "../tooltip";
import "./communication.css";

const kRoomy = 3; // levels: with more there is no room for the risk column

const kLead =
  "Each collective, in the column of the outermost links that it crosses; the stronger its color, " +
  "the longer it takes. Times are the sum of all calls, exposed or overlapped.";

/** A matrix of collectives and links: the stronger the color, the longer it takes. */
export function Communication({ plan, at, lit, point }: SectionProps) {
  const rows = plan.explain.communication;
  const levels = plan.ranks.levels;
  const shade = scaleSqrt([0, Math.max(...rows.map((row) => row.seconds), 1e-9)], [4, 62]);
  const roomy = levels.length <= kRoomy;
  const { stop, list } = useRoving(rows.length);
  if (rows.length === 0)
    return (
      <Section id="communication" title="Communication">
        <p>Nothing is sent: there is one rank.</p>
      </Section>
    );
  return (
    <Section id="communication" title="Communication" lead={kLead}>
      <Table name="Collectives by level">
        <thead>
          <tr>
            <th scope="col">collective</th>
            {levels.map((level, l) => (
              <th
                scope="col"
                class={`level ${mood(lit.levels, l)}`}
                tabIndex={0}
                {...pointing(point, { on: "level", level: l })}
              >
                {level}
                <LevelWords plan={plan} at={at} level={l} />
              </th>
            ))}
            {roomy && (
              <th scope="col" class="wide">
                risk
              </th>
            )}
          </tr>
        </thead>
        <tbody class="map" {...list}>
          {rows.map((row, c) => (
            <tr
              class={mood(lit.collectives, c)}
              aria-label={sentence(row)}
              {...stop(c)}
              {...pointing(point, { on: "collective", collective: c }, () => (
                <Words row={row} spans={spansOf(plan, c)} />
              ))}
            >
              <th scope="row">
                <span class="swatch round" style={{ background: kindColor(row.group) }} />
                {row.communication}
                {row.critical_path && <span class="critical">critical path</span>}
                <div class="quiet">
                  {row.group} groups of {count(row.group_size)}, {row.frequency}
                </div>
              </th>
              {levels.map((level) =>
                level === row.level ? (
                  <Crossed row={row} path={`${at}.explain.communication.${c}`} shade={shade} />
                ) : (
                  <td class={level === row.preferred_level ? "preferred" : ""}>
                    {level === row.preferred_level && "preferred"}
                  </td>
                ),
              )}
              {roomy && <td class="wide">{row.risk}</td>}
            </tr>
          ))}
        </tbody>
      </Table>
    </Section>
  );
}

/** The traffic of a level's links. */
function LevelWords({ plan, at, level }: { plan: PlanReport; at: string; level: number }) {
  const of = plan.explain.cluster.levels[level];
  const path = `${at}.explain.cluster.levels.${level}`;
  return (
    <>
      <div>
        <span {...cite(`${path}.bandwidth_bytes_per_second`, of.bandwidth_bytes_per_second)}>
          {bytesPerSecond(of.bandwidth_bytes_per_second)}
        </span>{" "}
        per {of.per}
      </div>
      {of.oversubscription > 1 && (
        <div {...cite(`${path}.oversubscription`, of.oversubscription)}>
          {digits(of.oversubscription)} : 1 shared
        </div>
      )}
    </>
  );
}

function Crossed(props: { row: Row; path: string; shade: (seconds: number) => number }) {
  const { row, path } = props;
  return (
    <td class="crossed" style={{ "--share": `${props.shade(row.seconds)}%` }}>
      <div class="time">
        <b {...cite(`${path}.seconds`, row.seconds)}>{seconds(row.seconds)}</b>
        <span {...cite(`${path}.groups_per_link`, row.groups_per_link)}>
          {plural(row.groups_per_link, "group", "groups")}/link
        </span>
      </div>
      <div>
        <span {...cite(`${path}.calls`, row.calls)}>{count(row.calls)}</span> x{" "}
        <span {...cite(`${path}.bytes`, row.bytes)}>{bytes(row.bytes)}</span>
      </div>
      {row.slowest_level !== row.level && <div>{row.slowest_level} sets the time</div>}
    </td>
  );
}

/** Returns the placement of a collective's groups; "" for a group of all ranks. */
function spansOf(plan: PlanReport, collective: number): string {
  return plan.ranks.groups.find((g) => g.collectives.includes(collective))?.spans ?? "";
}

function Words({ row, spans }: { row: Row; spans: string }) {
  const facts: [string, string][] = [
    ...(spans ? [["spans", spans] as [string, string]] : []),
    ["level", row.level],
    ["preferred", row.preferred_level],
    ["slowest", row.slowest_level],
    ["algorithm", row.algorithm],
    ["in all", `${bytes(row.total_bytes)}, ${bytes(row.wire_bytes)} on the wire`],
    ["most on", `PP rank ${row.pp_rank}`],
    ["critical path", row.critical_path ? "yes" : "no"],
    ["time", `${seconds(row.seconds)}, ${row.seconds_origin}`],
    ["risk", row.risk],
  ];
  return (
    <>
      <b>{row.communication}</b>
      <table class="plain">
        <tbody>
          {facts.map(([name, value]) => (
            <tr>
              <td class="quiet">{name}</td>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function sentence(row: Row): string {
  return (
    `${row.communication}, ${row.group} groups of ${count(row.group_size)}: ` +
    `${count(row.calls)} calls of ${bytes(row.bytes)} on ${row.level}, ${seconds(row.seconds)}, ` +
    `${plural(row.groups_per_link, "group", "groups")} on a link, ${row.algorithm}, ` +
    `${row.critical_path ? "on" : "off"} the critical path. Preferred: ${row.preferred_level}. ` +
    `Risk: ${row.risk}`
  );
}
