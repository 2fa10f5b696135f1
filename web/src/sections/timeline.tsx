import { useMemo, useState } from "preact/hooks";
import { cite } from "../cite";
import type { Measured, Timeline as Document } from "../document";
import { mood, type SectionProps } from "../focus";
import { count, percent, seconds, unbroken } from "../format";
import { Section } from "../section";
import { Table } from "../table";
import { pointing } from "../tooltip";
import { Plot } from "./timeline/plot";
import { shadeWords } from "./timeline/words";
import "./timeline/timeline.css";

/** The timeline of the step: the cells of each pp rank. */
export function Timeline(props: SectionProps) {
  const { timeline } = props.plan;
  const [path, setPath] = useState(true);
  if (!timeline)
    return (
      <Section id="timeline" title="Timeline">
        <p>The step has too many cells to simulate, so there is no timeline.</p>
      </Section>
    );
  return (
    <Section id="timeline" title="Timeline" lead={timeline.words}>
      <div class="timeline-key">
        <Legend timeline={timeline} />
        {timeline.path.length > 0 && (
          <label>
            <input type="checkbox" checked={path} onChange={() => setPath(!path)} /> critical path
          </label>
        )}
      </div>
      {props.plan.measured && <Run run={props.plan.measured} at={`${props.at}.measured`} />}
      <Plot {...props} timeline={timeline} path={path} />
      <Words timeline={timeline} at={`${props.at}.timeline`} />
      <Ranks {...props} timeline={timeline} />
    </Section>
  );
}

/** A sentence about the measured run. */
function Run({ run, at }: { run: Measured; at: string }) {
  return (
    <p class="prose run" title={run.name}>
      Predicted above, measured below. <b>{run.name.split("/").pop()}</b>:{" "}
      <span {...cite(`${at}.words`, run.words)}>{unbroken(run.words)}</span>
    </p>
  );
}

/** The legend of the kinds that occur. */
function Legend({ timeline }: { timeline: Document }) {
  const found = useMemo(() => kindsIn(timeline), [timeline]);
  return (
    <ul class="legend">
      {timeline.kinds.map(
        (kind, k) =>
          found.has(k) && (
            <li>
              <span class="swatch" style={{ background: kind.colors[0] }} />
              {kind.name}
            </li>
          ),
      )}
      <li>
        <span class="swatch idle" />
        idle
      </li>
      {shadeWords(timeline) && <li class="quiet">{shadeWords(timeline)}</li>}
    </ul>
  );
}

function kindsIn({ rows, columns }: Document): Set<number> {
  const found = new Set(rows.flatMap((row) => row.events.map((event) => event[2])));
  for (const part of columns?.rows.flat() ?? [])
    part.forEach((share, kind) => share > 0 && found.add(kind));
  return found;
}

const kWords = ["step", "idle", "critical path", "limits", "times"];

function Words({ timeline, at }: { timeline: Document; at: string }) {
  const { words } = timeline.summary;
  return (
    <dl class="timeline-words">
      {kWords.map(
        (word) =>
          words[word] && (
            <div>
              <dt>{word}</dt>
              <dd {...cite(`${at}.summary.words.${word}`, words[word])}>{unbroken(words[word])}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A table of each pp rank's time by kind. */
function Ranks({ timeline, at, lit, point }: SectionProps & { timeline: Document }) {
  const { ranks, step_seconds } = timeline.summary;
  return (
    <details>
      <summary>Each PP rank's time</summary>
      <Table name="Each PP rank's time">
        <thead>
          <tr>
            <th scope="col">PP rank</th>
            <th scope="col" class="number">
              cells
            </th>
            <th scope="col" class="number">
              other steps
            </th>
            <th scope="col" class="number">
              idle
            </th>
            <th scope="col" class="number">
              on the critical path
            </th>
            <th scope="col" class="number">
              activations held
            </th>
          </tr>
        </thead>
        <tbody>
          {ranks.map((rank, r) => {
            const path = `${at}.timeline.summary.ranks.${r}`;
            const time = (
              key: "cells_seconds" | "steps_seconds" | "idle_seconds" | "critical_path_seconds",
            ) => (
              <td class="number" {...cite(`${path}.${key}`, rank[key])}>
                {seconds(rank[key])} <span class="quiet">{percent(rank[key] / step_seconds)}</span>
              </td>
            );
            return (
              <tr
                class={mood(lit.ppRanks, rank.pp_rank)}
                {...pointing(point, { on: "pp", ppRank: rank.pp_rank })}
              >
                <th scope="row">{rank.pp_rank}</th>
                {time("cells_seconds")}
                {time("steps_seconds")}
                {time("idle_seconds")}
                {time("critical_path_seconds")}
                <td
                  class="number"
                  {...cite(`${path}.stage_activations_held`, rank.stage_activations_held)}
                >
                  {count(rank.stage_activations_held)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </details>
  );
}
