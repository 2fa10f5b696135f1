import { cite } from "../../cite";
import { Command, Copy } from "../../copy";
import type { PlanReport, WhatIf as Setting, WhatIfRow } from "../../document";
import { difference, memoryOf, percent, seconds, unbroken } from "../../format";
import type { Tried } from "../../selection";
import "./what_if.css";

/** The plan with another value of one setting, which the reader selects. */
export function WhatIf(props: {
  plan: PlanReport;
  at: string;
  tried: Tried | null;
  setTried: (tried: Tried | null) => void;
}) {
  const { plan, at, tried, setTried } = props;
  if (plan.what_if.length === 0) return null;
  return (
    <>
      <h3>What if</h3>
      <p class="prose">
        Select another value of one setting. Bars show the step; DP takes the rest of the GPUs.
      </p>
      <div class="what-if">
        {plan.what_if.map((setting, i) => (
          <Values
            setting={setting}
            path={`${at}.what_if.${i}`}
            chosen={tried?.setting === i ? tried.row : setting.rows.findIndex((row) => row.own)}
            choose={(row) => setTried(setting.rows[row].own ? null : { setting: i, row })}
          />
        ))}
      </div>
      <div class="tried" aria-live="polite">
        {tried && (
          <Result
            plan={plan}
            setting={plan.what_if[tried.setting]}
            row={plan.what_if[tried.setting].rows[tried.row]}
            path={`${at}.what_if.${tried.setting}`}
          />
        )}
      </div>
    </>
  );
}

/** The values of one setting as radio buttons. */
function Values(props: {
  setting: Setting;
  path: string;
  chosen: number;
  choose: (row: number) => void;
}) {
  const { setting, path, chosen, choose } = props;
  const most = Math.max(...setting.rows.map((row) => row.step_seconds ?? 0));
  return (
    <fieldset>
      <legend>{setting.head}</legend>
      {setting.rows.map((row, i) => (
        <label class={kindOf(row)} title={titleOf(row)}>
          <input
            type="radio"
            name={path}
            aria-label={`${row.name}: ${titleOf(row)}`}
            checked={i === chosen}
            onChange={() => choose(i)}
          />
          <span class="value">{row.value}</span>
          <span class="bar" aria-hidden="true">
            {row.step_seconds !== undefined && (
              <i style={{ width: `${(100 * row.step_seconds) / most}%` }} />
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Result(props: { plan: PlanReport; setting: Setting; row: WhatIfRow; path: string }) {
  const { plan, setting, row } = props;
  const path = `${props.path}.rows.${setting.rows.indexOf(row)}`;
  if (row.impossible)
    return (
      <p>
        <b>{row.name}</b> is not possible:{" "}
        <span {...cite(`${path}.impossible`, row.impossible)}>{unbroken(row.impossible)}</span>
      </p>
    );
  const capacity = plan.explain.estimate.memory?.capacity_bytes ?? 0;
  return (
    <>
      <p>
        <b>{row.name}</b>: step{" "}
        <span {...cite(`${path}.step_seconds`, row.step_seconds!)}>
          {seconds(row.step_seconds!)}
        </span>{" "}
        (
        <span {...cite(`${path}.difference`, row.difference!)}>
          {difference(row.difference!, 1, percent)}
        </span>
        ), memory{" "}
        <span {...cite(`${path}.memory_bytes`, row.memory_bytes!)}>
          {memoryOf(row.memory_bytes!, capacity)}
        </span>
        , <span class={row.fits ? "" : "alarm"}>{row.verdict}</span>. {row.refused}
      </p>
      <p>
        Its plan file: <Copy text={row.file!} what={`the plan with ${row.name}`} />
      </p>
      <p class="quiet" {...cite(`${props.path}.words`, setting.words)}>
        {unbroken(setting.words)}
      </p>
      <Command command={`rankwright explain ${plan.name} --sweep ${setting.key}`} />
    </>
  );
}

/** Returns the CSS class of a value. */
function kindOf(row: WhatIfRow): string {
  if (row.impossible) return "impossible";
  return !row.fits ? "over" : row.refused ? "refused" : "";
}

function titleOf(row: WhatIfRow): string {
  if (row.impossible) return row.impossible;
  const against = row.own ? "this plan" : difference(row.difference!, 1, percent);
  return `step ${seconds(row.step_seconds!)}, ${against}; ${row.refused || row.verdict}`;
}
