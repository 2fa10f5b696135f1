import { scaleTo, span } from "../bars";
import { cite } from "../cite";
import type { Compare as Comparison, PlanReport, Side } from "../document";
import { difference, memory, memoryOf, percent, seconds, shortCount, unbroken } from "../format";
import { Section } from "../section";
import { Table } from "../table";
import { toneOf } from "./compare/tone";
import { StillTimeline } from "./timeline/still";
import "./compare.css";

/** Compares two plans: which is faster, why, and how they differ. */
export function Compare({ compare, plans }: { compare: Comparison; plans: PlanReport[] }) {
  const { verdict, time } = compare;
  const { tone, words } = toneOf(compare);
  return (
    <Section id="compare" title="A against B">
      <p class={`sentence ${tone}`}>
        {words && <span class="tone">{words}</span>}
        <span {...cite("compare.verdict.text", verdict.text)}>{unbroken(verdict.text)}</span>
      </p>
      {compare.unlike && <p class="prose">{compare.unlike}</p>}
      {compare.fit && <p class="prose">{compare.fit}</p>}
      <Sides compare={compare} />
      <Timelines plans={plans} />
      <Differences compare={compare} />
      {compare.causes.length > 0 && <Causes causes={compare.causes} />}
      <h3>Time, item by item</h3>
      <PairedBars
        rows={time.items.map((item, i) => timePair(item.item, `compare.time.items.${i}`, item))}
        total={timePair("all", "compare.time", time)}
        unit="seconds"
        show={seconds}
      />
      {compare.memory && (
        <>
          <h3>Memory of the fullest PP rank, entry by entry</h3>
          <PairedBars
            rows={compare.memory.map((entry, i) => ({
              name: entry.entry,
              path: `compare.memory.${i}`,
              a: entry.a_bytes,
              b: entry.b_bytes,
              difference: entry.difference_bytes,
            }))}
            unit="bytes"
            show={memory}
          />
        </>
      )}
    </Section>
  );
}

function memoryText({ memory: m }: Side): string {
  if (!m) return "no model given";
  return `${memoryOf(m.total_bytes, m.capacity_bytes)} on PP rank ${m.pp_rank}, ${m.verdict}`;
}

const kSideRows: [name: string, key: keyof Side, show: (side: Side) => string][] = [
  [
    "step",
    "step_seconds",
    (s) => `${seconds(s.step_seconds)} ±${percent(Math.round(s.within * 100) / 100)}`,
  ],
  [
    "tokens/s/GPU",
    "tokens_per_second_per_device",
    (s) => shortCount(s.tokens_per_second_per_device),
  ],
  ["MFU", "mfu", (s) => percent(s.mfu)],
  ["memory", "memory", memoryText],
  ["plan", "plan", (s) => s.plan],
];

function Sides({ compare }: { compare: Comparison }) {
  const sides = ["a", "b"] as const;
  return (
    <Table name="Both plans" class="sides">
      <thead>
        <tr>
          <td />
          {sides.map((side) => (
            <th scope="col" class="side">
              <span class={`letter ${side}`}>{side.toUpperCase()}</span>{" "}
              <span title={compare[side].name}>{compare[side].name.split("/").pop()}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {kSideRows.map(([name, key, show]) => (
          <tr>
            <th scope="row">{name}</th>
            {sides.map((side) => {
              const value = compare[side][key];
              const attributes =
                typeof value === "object" ? {} : cite(`compare.${side}.${key}`, value);
              return <td {...attributes}>{show(compare[side])}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** Both steps on one time axis. */
function Timelines({ plans }: { plans: PlanReport[] }) {
  const ends = plans.map((plan) =>
    plan.timeline ? plan.timeline.end * plan.timeline.tick_seconds : 0,
  );
  if (Math.max(...ends) <= 0) return null;
  return (
    <>
      <h3>Both steps on one time axis</h3>
      {plans.map((plan, i) => (
        <div class="of-side">
          <span class={`letter ${"ab"[i]}`}>{"AB"[i]}</span>
          <StillTimeline
            plan={plan}
            end={Math.max(...ends)}
            clip={`timeline-clip-${"ab"[i]}`}
            name={`Timeline of ${"AB"[i]}: ${plan.timeline?.summary.words.step ?? ""}`}
          />
        </div>
      ))}
    </>
  );
}

function Causes({ causes }: { causes: Comparison["causes"] }) {
  return (
    <>
      <h3>Why</h3>
      <ul class="causes">
        {causes.map((cause, i) => (
          <li>
            <b {...cite(`compare.causes.${i}.difference_seconds`, cause.difference_seconds)}>
              {difference(cause.difference_seconds, cause.difference_seconds, seconds)}
            </b>
            <span>
              <b>{cause.item}</b>: {unbroken(cause.words)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

interface Pair {
  name: string;
  path: string;
  a: number;
  b: number;
  difference: number;
}

function timePair(
  name: string,
  path: string,
  of: { a_seconds: number; b_seconds: number; difference_seconds: number },
): Pair {
  return { name, path, a: of.a_seconds, b: of.b_seconds, difference: of.difference_seconds };
}

/** Bars of A above B on one scale, and B's difference from A as a bar and as text. */
function PairedBars(props: {
  rows: Pair[];
  total?: Pair; // shown as text only: its bar would make the others small
  unit: string;
  show: (n: number) => string;
}) {
  const { rows, total, unit, show } = props;
  const scale = scaleTo(Math.max(...rows.flatMap((row) => [row.a, row.b])));
  const widest = Math.max(...rows.map((row) => Math.abs(row.difference)), 0);
  return (
    <ol class="bars folding pairs">
      {(total ? [...rows, total] : rows).map((row) => (
        <li class={`bar-row ${row === total ? "total" : ""}`}>
          <span class="name">{row.name}</span>
          <span class="track">
            {row !== total && row.a > 0 && <span class="bar a" style={span(scale, 0, row.a)} />}
            {row !== total && row.b > 0 && <span class="bar b" style={span(scale, 0, row.b)} />}
          </span>
          <span class="change" aria-hidden="true">
            {row !== total && row.difference !== 0 && (
              <i class={row.difference > 0 ? "more" : "less"} style={changeBar(row.difference, widest)} />
            )}
          </span>
          <span class="number both">
            <span class="a" {...cite(`${row.path}.a_${unit}`, row.a)}>
              {show(row.a)}
            </span>
            <span class="b" {...cite(`${row.path}.b_${unit}`, row.b)}>
              {show(row.b)}
            </span>
          </span>
          <span
            class={`number ${change(row, show) === show(0) ? "quiet" : ""}`}
            {...cite(`${row.path}.difference_${unit}`, row.difference)}
          >
            {change(row, show)}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** A bar from the middle: to the right if B is larger, to the left if it is smaller. */
function changeBar(difference: number, widest: number) {
  const width = widest > 0 ? (50 * Math.abs(difference)) / widest : 0;
  return difference > 0
    ? { left: "50%", width: `${width}%` }
    : { right: "50%", width: `${width}%` };
}

function change(row: Pair, show: (n: number) => string): string {
  return difference(row.difference, Math.max(row.a, row.b), show);
}

function Differences({ compare }: { compare: Comparison }) {
  return (
    <>
      <h3>Keys that differ</h3>
      <Table name="Keys that differ" class="sides">
        <thead>
          <tr>
            <th scope="col">key</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {compare.differs.map((row, i) => (
            <tr>
              <th scope="row">
                <code>{row.key}</code>
              </th>
              <td {...cite(`compare.differs.${i}.a`, row.a)}>
                {row.a} {row.a_assumed && <span class="quiet">(assumed)</span>}
              </td>
              <td {...cite(`compare.differs.${i}.b`, row.b)}>
                {row.b} {row.b_assumed && <span class="quiet">(assumed)</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </>
  );
}
