import { cite } from "../cite";
import { Command, Copy } from "../copy";
import type { Advice as Document } from "../document";
import { unbroken } from "../format";
import "./advice.css";

const kTitles: Record<Document["kind"], string> = {
  change: "Do this",
  benchmark: "Benchmark this",
  keep: "Do this",
  grow: "Do this",
  inform: "Do this",
};

/** The change to make: the keys, what it gains, who runs it, and the command to copy. */
export function Advice({ advice, path }: { advice: Document; path: string }) {
  return (
    <div class={`advice ${advice.kind}`} role="group" aria-labelledby="advice-title">
      <h3 id="advice-title">{kTitles[advice.kind]}</h3>
      <p {...cite(`${path}.sentence`, advice.sentence)}>{unbroken(advice.sentence)}</p>
      {advice.changes.length > 0 && (
        <dl class="changes">
          {advice.changes.map((change, i) => (
            <div>
              <dt title={change.key}>{shortKey(change.key)}</dt>
              <dd>
                <span {...cite(`${path}.changes.${i}.from`, change.from)}>
                  {change.from || "none"}
                </span>{" "}
                <span class="arrow" aria-label="to">
                  →
                </span>{" "}
                <b {...cite(`${path}.changes.${i}.to`, change.to)}>{change.to || "none"}</b>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {advice.gains.length > 0 && (
        <table class="gains">
          <thead>
            <tr>
              <td />
              <th scope="col" class="number">
                this plan
              </th>
              <th scope="col" class="number">
                after
              </th>
              <th scope="col" class="number">
                difference
              </th>
            </tr>
          </thead>
          <tbody>
            {advice.gains.map((gain, i) => (
              <tr>
                <th scope="row">{gain.name}</th>
                <td class="number" {...cite(`${path}.gains.${i}.now`, gain.now)}>
                  {unbroken(gain.now)}
                </td>
                <td class="number" {...cite(`${path}.gains.${i}.after`, gain.after)}>
                  <b>{unbroken(gain.after)}</b>
                </td>
                <td class="number">{unbroken(gain.difference)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {advice.runs && <p {...cite(`${path}.runs`, advice.runs)}>{advice.runs}</p>}
      {advice.command && <Command command={advice.command} />}
      {advice.file && (
        <details>
          <summary>The plan as a file</summary>
          <div class="file">
            <div class="title">
              <span>better.yaml</span>
              <Copy text={advice.file} what="the plan" />
            </div>
            <pre tabIndex={0}>{advice.file}</pre>
          </div>
        </details>
      )}
    </div>
  );
}

const kNames: Record<string, string> = {
  tp_size: "TP",
  cp_size: "CP",
  pp_size: "PP",
  dp_size: "DP",
  ep_size: "EP",
  etp_size: "expert TP",
  zero_stage: "ZeRO stage",
  micro_batch: "micro-batch",
  virtual_stages: "virtual stages",
  world_size: "GPUs",
};

/** Returns the name of a key: "TP" for "parallelism.tp_size". */
export function shortKey(key: string): string {
  const parts = key.split(".");
  const last = parts[parts.length - 1];
  if (parts[parts.length - 2] === "overlap") return `overlap of ${last.toUpperCase()}`;
  return kNames[last] ?? last.replaceAll("_", " ");
}
