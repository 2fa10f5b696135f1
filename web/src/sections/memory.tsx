import { useMemo, useState } from "preact/hooks";
import { Axis, scaleTo, type Scale, span, ticks } from "../bars";
import { cite } from "../cite";
import type { Memory as Estimate, PlanReport, StageMemory } from "../document";
import { mood, type SectionProps } from "../focus";
import { band, memory, memoryOf, memoryUnit } from "../format";
import { inkOn } from "../contrast";
import { entryColor } from "../palette";
import { merged } from "../merged";
import { useRoving } from "../roving";
import { Section } from "../section";
import { pointing } from "../tooltip";
import "./memory.css";

const kApart = 5; // minimum percent between the limit and a tick
const kFar = 16; // a limit of more than this many times the peak is clamped to the edge: bars would vanish
const kLettered = 2.2; // percent of the track: narrower parts have no room for a letter
const kCrowd = 32; // pp ranks: with more, bars are thin and every eighth has a name

/** Memory per pp rank, entry by entry, compared with the device's memory. */
export function Memory(props: SectionProps) {
  const estimate = props.plan.explain.estimate.memory;
  if (!props.plan.memory || !estimate)
    return (
      <Section id="memory" title="Memory">
        <p class="callout">
          No model is named, so its memory cannot be estimated. Name one with <code>--model</code>:
          <code class="line">rankwright report {props.plan.name} --model llama-3.1-70b</code>
        </p>
      </Section>
    );
  return (
    <Section id="memory" title="Memory" lead={summary(estimate)}>
      <Stages {...props} stages={props.plan.memory} estimate={estimate} />
    </Section>
  );
}

function summary(m: Estimate): string {
  return (
    `Peak memory of each PP rank. PP rank ${m.pp_rank} needs the most: ` +
    `${memoryOf(m.total_bytes, m.capacity_bytes)} ${band(m.band)}, ${m.verdict}.`
  );
}

function Stages(props: SectionProps & { stages: StageMemory[]; estimate: Estimate }) {
  const { stages, estimate, lit, point, at } = props;
  const [entry, setEntry] = useState("");
  const all = useMemo(
    () => merged(stages.map((stage) => stage.entries.map((e) => e.entry))),
    [stages],
  );
  const { stop, list } = useRoving(stages.length);
  const within = estimate.band.within;
  const held = Math.max(...stages.map((s) => s.total_bytes * (1 + within)));
  const far = estimate.capacity_bytes > kFar * held;
  const most = 1.02 * (far ? held : Math.max(estimate.capacity_bytes, held));
  const scale = scaleTo(most);
  const limit = far ? 100 : scale(estimate.capacity_bytes);
  return (
    <>
      <Legend plan={props.plan} all={all} entry={entry} setEntry={setEntry} />
      <ol class={`bars stages ${stages.length > kCrowd ? "crowd" : ""}`} {...list}>
        <Axis
          scale={scale}
          ticks={ticks(most, memoryUnit(most)).filter(
            (t) => far || Math.abs(scale(t) - limit) > kApart,
          )}
          show={memory}
          lines={!far && <i class="capacity" style={{ left: `${limit}%` }} />}
        >
          <span class={`tick limit ${limit < 50 ? "low" : ""}`} style={{ left: `${limit}%` }}>
            <span
              {...cite(`${at}.explain.estimate.memory.capacity_bytes`, estimate.capacity_bytes)}
            >
              {props.plan.explain.cluster.device} has {memory(estimate.capacity_bytes)}
              {far && ", far to the right"}
            </span>
          </span>
        </Axis>
        {stages.map((stage, i) => (
          <li
            class={`bar-row ${mood(lit.ppRanks, stage.pp_rank)} ${doubt(stage) ? "risky" : ""}`}
            aria-label={sentence(stage)}
            {...stop(i)}
            {...pointing(point, { on: "pp", ppRank: stage.pp_rank }, () => <Words stage={stage} />)}
          >
            <span class="name">pp {stage.pp_rank}</span>
            <Stack all={all} stage={stage} scale={scale} entry={entry} within={within} />
            <span class="number" {...cite(`${at}.memory.${i}.total_bytes`, stage.total_bytes)}>
              {memory(stage.total_bytes)}
            </span>
            <span class="holds">
              {stage.holds}
              {doubt(stage) && (
                <>
                  {" · "}
                  <b class="doubt">{doubt(stage)}</b>
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Returns the verdict unless it fits with margin. */
function doubt({ verdict }: StageMemory): string {
  return verdict === "fits with margin" ? "" : verdict;
}

/** Returns the letter that names an entry where colors cannot be told apart, as in
 * rankwright/report/page/memory_svg.cc. */
const letterOf = (all: string[], entry: string) => String.fromCharCode(97 + all.indexOf(entry));

function Stack(props: {
  all: string[];
  stage: StageMemory;
  scale: Scale;
  entry: string;
  within: number;
}) {
  const { stage, scale, entry, within } = props;
  const bandBegins = stage.total_bytes * (1 - within); // the line of the error is over what follows
  let filled = 0;
  return (
    <span class="track">
      {stage.entries.map((e) => {
        const from = filled;
        filled += e.bytes;
        const faded = entry !== "" && entry !== e.entry;
        const color = entryColor(e.entry);
        return (
          <>
            <span
              class={`bar ${faded ? "faded" : ""}`}
              style={{ ...span(scale, from, filled), background: color }}
            />
            {scale(filled) - scale(from) >= kLettered && (from + filled) / 2 < bandBegins && (
              <span
                class="letter-of"
                aria-hidden="true"
                style={{ left: `${scale((from + filled) / 2)}%`, color: inkOn(color) }}
              >
                {letterOf(props.all, e.entry)}
              </span>
            )}
          </>
        );
      })}
      <span
        class="band"
        style={span(scale, stage.total_bytes * (1 - within), stage.total_bytes * (1 + within))}
      />
    </span>
  );
}

/** The entries that any pp rank has, in the order of the memory estimate. */
function Legend(props: {
  plan: PlanReport;
  all: string[];
  entry: string;
  setEntry: (entry: string) => void;
}) {
  const meanings = props.plan.explain.estimate.memory?.entries ?? [];
  const { all } = props;
  return (
    <ul class="legend" onPointerLeave={() => props.setEntry("")}>
      {all.map((entry) => (
        <li
          class={props.entry && props.entry !== entry ? "faded" : ""}
          title={meanings.find((e) => e.entry === entry)?.meaning}
          onPointerEnter={() => props.setEntry(entry)}
        >
          <span
            class="memory-key"
            aria-hidden="true"
            style={{ background: entryColor(entry), color: inkOn(entryColor(entry)) }}
          >
            {letterOf(all, entry)}
          </span>
          {entry}
        </li>
      ))}
    </ul>
  );
}

function Words({ stage }: { stage: StageMemory }) {
  return (
    <>
      <b>PP rank {stage.pp_rank}</b> {memory(stage.total_bytes)} {stage.instant_words}
      {doubt(stage) && <div class="alarm">{stage.verdict}</div>}
      <div>{stage.holds}</div>
      <table class="plain">
        <tbody>
          {stage.entries.map((e) => (
            <tr>
              <td>
                <span class="swatch" style={{ background: entryColor(e.entry) }} />
                {e.entry}
              </td>
              <td class="number">{memory(e.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function sentence(stage: StageMemory): string {
  const entries = stage.entries.map((e) => `${e.entry} ${memory(e.bytes)}`).join(", ");
  const total = memory(stage.total_bytes) + `, ${stage.verdict}`;
  return `PP rank ${stage.pp_rank}, ${stage.holds}: ${total}. ${entries}`;
}
