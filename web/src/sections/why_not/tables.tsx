import { cite } from "../../cite";
import type { Finding, Point, Refused, Trade } from "../../document";
import { count, difference, memory, percent, plural, seconds, unbroken } from "../../format";
import { ListTable, Table } from "../../table";
import { nameOf, shapeOf } from "./roles";
import { differenceOf } from "./words";

interface PointsProps {
  points: Point[];
  path: string;
  hovered: number;
  hover: (point: number) => void;
  open: (point: number) => void;
}

/** A table of all points, each with a button that opens it; the long front is shown on request. */
export function Points(props: PointsProps) {
  const all = props.points.map((_, i) => i);
  const front = all.filter((i) => props.points[i].role === "front");
  return (
    <>
      <PointTable
        {...props}
        name="Plans that might be chosen"
        shown={all.filter((i) => !front.includes(i))}
      />
      {front.length > 0 && (
        <details>
          <summary>{plural(front.length, "more plan", "more plans")} on the front</summary>
          <PointTable {...props} name="Plans on the front" shown={front} />
        </details>
      )}
    </>
  );
}

function PointTable(props: PointsProps & { name: string; shown: number[] }) {
  return (
    <Table name={props.name} class="points">
      <thead>
        <tr>
          <th scope="col">plan</th>
          <th scope="col" class="number">
            step
          </th>
          <th scope="col" class="number">
            against this
          </th>
          <th scope="col" class="number">
            memory
          </th>
          <th scope="col">layout</th>
          <th scope="col">because</th>
        </tr>
      </thead>
      <tbody>
        {props.shown.map((i) => {
          const point = props.points[i];
          const path = `${props.path}.${i}`;
          return (
            <tr
              class={i === props.hovered ? "lit" : ""}
              onPointerEnter={() => props.hover(i)}
              onPointerLeave={() => props.hover(-1)}
            >
              <th scope="row">
                <button type="button" class="open" onClick={() => props.open(i)}>
                  <Shape role={point.role} /> {nameOf(point)}
                </button>
              </th>
              <td class="number" {...cite(`${path}.step_seconds`, point.step_seconds)}>
                {seconds(point.step_seconds)}
              </td>
              <td class="number" {...cite(`${path}.difference`, point.difference)}>
                {differenceOf(point)}
              </td>
              <td
                class={point.fits ? "number" : "number alarm"}
                {...cite(`${path}.memory_bytes`, point.memory_bytes)}
              >
                {memory(point.memory_bytes)}
              </td>
              <td {...cite(`${path}.brief`, point.brief)}>{point.brief}</td>
              <td {...cite(`${path}.because`, point.because)}>{unbroken(point.because)}</td>
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}

export function Shape({ role }: { role: Point["role"] }) {
  return (
    <svg class={`plan ${role} sample`} viewBox="-9 -9 18 18" aria-hidden="true">
      <path class="shape" d={shapeOf(role)} />
    </svg>
  );
}

/** The cost of more headroom or fewer GPUs. */
export function TradeTable({ trade, path }: { trade: Trade[]; path: string }) {
  return (
    <>
      <h3>Trade-offs</h3>
      <ListTable
        name="Trade-offs"
        path={path}
        rows={trade}
        columns={[
          { title: "trade-off", key: "what" },
          { title: "GPUs", key: "gpus", show: (row) => count(row.gpus), number: true },
          {
            title: "step",
            key: "step_seconds",
            show: (row) => seconds(row.step_seconds),
            number: true,
          },
          {
            title: "against this",
            key: "difference",
            show: (row) => difference(row.difference, 1, percent),
            number: true,
          },
          {
            title: "memory",
            key: "memory_bytes",
            show: (row) => memory(row.memory_bytes),
            number: true,
          },
          { title: "layout", key: "brief" },
        ]}
      />
    </>
  );
}

/** The fixes that check found, each with its estimated cost. */
export function Fixes({ findings, at }: { findings: Finding[]; at: string }) {
  const fixable = findings.filter((finding) => finding.severity !== "note" && finding.help);
  if (fixable.length === 0) return null;
  return (
    <>
      <h3>Fixes from rankwright check</h3>
      <Table name="Fixes" class="list fixes">
        <thead>
          <tr>
            <th scope="col">problem</th>
            <th scope="col">fix</th>
            <th scope="col">consequences, and other fixes with their cost</th>
          </tr>
        </thead>
        <tbody>
          {fixable.map((finding) => {
            const path = `${at}.findings.${findings.indexOf(finding)}`;
            return (
              <tr>
                <th scope="row" {...cite(`${path}.title`, finding.title)}>
                  {finding.title} <code>{finding.code}</code>
                </th>
                <td>
                  <code {...cite(`${path}.help`, finding.help)}>{finding.help}</code>
                </td>
                <td>
                  {finding.notes.length === 0
                    ? finding.message
                    : finding.notes.map((note) => <div>{unbroken(note)}</div>)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </>
  );
}

export function RefusedTable({ refused, path }: { refused: Refused[]; path: string }) {
  return (
    <>
      <h3>Changes that are not possible</h3>
      <ListTable
        name="Changes that are refused"
        path={path}
        rows={refused}
        columns={[
          { title: "change", key: "change" },
          { title: "layout", key: "brief" },
          { title: "because", key: "because" },
        ]}
      />
    </>
  );
}
