import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { PlanReport, Report } from "./document";
import { type Focus, lit, nothing, type SectionProps } from "./focus";
import { Cluster } from "./sections/cluster";
import { Communication } from "./sections/communication";
import { Compare } from "./sections/compare";
import { Memory } from "./sections/memory";
import { Step } from "./sections/step";
import { Timeline } from "./sections/timeline";
import { Verdict } from "./sections/verdict";
import { WhyNot } from "./sections/why_not";
import { Worksheet } from "./sections/worksheet";
import { Contents } from "./contents";
import { Tooltip } from "./tooltip";
import "./app.css";

type Draw = (props: SectionProps) => JSX.Element;

/** The sections of a plan, most important first. */
const kSections: [id: string, name: string, draw: Draw][] = [
  ["verdict", "Verdict", still(Verdict)],
  ["cluster", "Cluster", Cluster],
  ["step", "Step", Step],
  ["memory", "Memory", Memory],
  ["timeline", "Timeline", Timeline],
  ["communication", "Communication", Communication],
  ["why-not", "Why not", WhyNot],
  ["worksheet", "Worksheet", still(Worksheet)],
];

export function App({ report }: { report: Report }) {
  const [shown, show] = useState(0);
  const [focus, point] = useState<Focus>(nothing);
  const plan = report.plans[shown];
  const light = useMemo(() => lit(plan, focus), [plan, focus]);
  useEffect(openWhenPrinted, []);
  return (
    <div class="page">
      <Header report={report} plan={plan} />
      <Contents
        entries={[
          ...(report.compare ? [["compare", "A against B"] as const] : []),
          ...kSections.map(([id, name]) => [id, name] as const),
        ]}
      />
      <main>
        {report.compare && <Compare compare={report.compare} />}
        {report.plans.length > 1 && <Switch plans={report.plans} shown={shown} show={show} />}
        {kSections.map(([id, , Draw]) => (
          <Draw key={id} plan={plan} at={`plans.${shown}`} lit={light} point={point} />
        ))}
      </main>
      <footer>
        Made by Rankwright {report.version} with <code>{report.command}</code>
      </footer>
      <Tooltip />
    </div>
  );
}

/** Memoizes sections without highlighting, so that they render once per plan, not at every pointer move. */
function still(Section: Draw): Draw {
  return (props) => useMemo(() => <Section {...props} />, [props.plan]);
}

function Header({ report, plan }: { report: Report; plan: PlanReport }) {
  const title = report.compare
    ? report.plans.map((p) => p.name).join(" against ")
    : plan.explain.headline;
  useEffect(() => {
    document.title = `${title} · Rankwright`;
  }, [title]);
  return (
    <header>
      <div class="brand">
        Rankwright <span class="quiet">{!report.compare && plan.name}</span>
      </div>
      <h1>
        {title.split(" · ").map((part, i) => (
          <span class={i > 0 ? "quiet" : ""}>{part}</span>
        ))}
      </h1>
    </header>
  );
}

/** Selects which of the two plans the sections below show. */
function Switch(props: { plans: PlanReport[]; shown: number; show: (plan: number) => void }) {
  return (
    <fieldset class="switch">
      <legend>Below is shown</legend>
      {props.plans.map((plan, i) => (
        <label>
          <input
            type="radio"
            name="plan"
            checked={props.shown === i}
            onChange={() => props.show(i)}
          />
          <span class={`letter ${"ab"[i]}`}>{"AB"[i]}</span> {plan.name}
        </label>
      ))}
    </fieldset>
  );
}

/** Opens all details before printing, because paper cannot be clicked. */
function openWhenPrinted() {
  const open = () => document.querySelectorAll("details").forEach((d) => (d.open = true));
  addEventListener("beforeprint", open);
  return () => removeEventListener("beforeprint", open);
}
