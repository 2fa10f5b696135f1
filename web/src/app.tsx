import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { PlanReport, Report } from "./document";
import { type Focus, lit, nothing, sameFocus, type SectionProps } from "./focus";
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
import {
  formatHash,
  nameFocus,
  noSelection,
  parseHash,
  type Selection,
  type Tried,
} from "./selection";
import { Tooltip } from "./tooltip";
import "./app.css";

type Draw = (props: SectionProps) => JSX.Element;

/** The sections of a plan, most important first. */
const kSections: [id: string, name: string, draw: Draw][] = [
  ["verdict", "Verdict", still(Verdict)],
  ["step", "Step", Step],
  ["memory", "Memory", Memory],
  ["why-not", "Alternatives", WhyNot],
  ["timeline", "Timeline", Timeline],
  ["cluster", "Cluster", Cluster],
  ["communication", "Communication", Communication],
  ["worksheet", "Worksheet", still(Worksheet)],
];

export function App({ report }: { report: Report }) {
  const [hovered, hover] = useState<Focus>(nothing);
  const { selection, select } = useSelection(report);
  const { pinned, range, plan: shown, opened, tried } = selection;
  const plan = report.plans[shown];
  const focus = hovered.on === "nothing" ? pinned : hovered;
  const light = useMemo(() => lit(plan, focus), [plan, focus]);
  const point = useMemo(
    () =>
      Object.assign((next: Focus) => hover(next), {
        pin: (next: Focus) =>
          select((now) => ({ ...now, pinned: sameFocus(now.pinned, next) ? nothing : next })),
      }),
    [],
  );
  const setRange = (next: [number, number] | null) => select((now) => ({ ...now, range: next }));
  const open = (next: number) => select((now) => ({ ...now, opened: next }));
  const setTried = (next: Tried | null) => select((now) => ({ ...now, tried: next }));
  const show = (next: number) => select({ ...noSelection, plan: next });
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
        {report.compare && <Compare compare={report.compare} plans={report.plans} />}
        {report.plans.length > 1 && <Switch plans={report.plans} shown={shown} show={show} />}
        {kSections.map(([id, , Draw]) => (
          <Draw
            key={id}
            {...{ plan, point, pinned, range, setRange, opened, open, tried, setTried }}
            compared={report.compare !== null}
            at={`plans.${shown}`}
            lit={light}
          />
        ))}
      </main>
      <footer>
        Made by Rankwright {report.version} with <code>{report.command}</code>
      </footer>
      {pinned.on !== "nothing" && (
        <Pinned name={nameFocus(pinned, plan)} clear={() => point.pin(pinned)} />
      )}
      <Tooltip />
    </div>
  );
}

/** The selection, kept in the URL. Escape releases what is pinned. */
function useSelection(report: Report) {
  const [selection, select] = useState<Selection>(() => parseHash(location.hash, report.plans));
  useLayoutEffect(() => {
    const hash = formatHash(selection, report.plans);
    // A hash without "=" is the address of a section, and stays while nothing is selected.
    if (hash || location.hash.includes("="))
      history.replaceState(null, "", hash || location.pathname + location.search);
  }, [selection]);
  useEffect(() => {
    const onHash = () =>
      location.hash.includes("=") && select(parseHash(location.hash, report.plans));
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]"))
        select((now) => ({ ...now, pinned: nothing }));
    };
    addEventListener("hashchange", onHash);
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("hashchange", onHash);
      removeEventListener("keydown", onKey);
    };
  }, []);
  return { selection, select };
}

/** Says what is pinned, and releases it. */
function Pinned({ name, clear }: { name: string; clear: () => void }) {
  return (
    <div class="pinned" role="status">
      <span>
        Selected: <b>{name}</b>
      </span>
      <button type="button" onClick={clear}>
        Clear <span class="quiet">Esc</span>
      </button>
    </div>
  );
}

/** Memoizes sections without highlighting, so that they render once per plan, not at every pointer move. */
function still(Section: Draw): Draw {
  return (props) => useMemo(() => <Section {...props} />, [props.plan]);
}

function Header({ report, plan }: { report: Report; plan: PlanReport }) {
  const title = report.compare
    ? report.plans.map((p) => fileName(p.name)).join(" against ")
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

/** Returns a path without its folders. */
const fileName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** Selects which of the two plans the sections below show. */
function Switch(props: { plans: PlanReport[]; shown: number; show: (plan: number) => void }) {
  return (
    <fieldset class="switch">
      <legend>Shown below</legend>
      {props.plans.map((plan, i) => (
        <label>
          <input
            type="radio"
            name="plan"
            checked={props.shown === i}
            onChange={() => props.show(i)}
          />
          <span class={`letter ${"ab"[i]}`}>{"AB"[i]}</span> {fileName(plan.name)}
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
