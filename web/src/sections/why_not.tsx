import { useMemo, useState } from "preact/hooks";
import { cite } from "../cite";
import type { PlanReport, WhyNot as Document } from "../document";
import type { SectionProps } from "../focus";
import { unbroken } from "../format";
import { Section } from "../section";
import { type Anchor, hideTip, showTip } from "../tooltip";
import { Opened } from "./why_not/opened";
import { kRoles } from "./why_not/roles";
import { Scatter } from "./why_not/scatter";
import { Fixes, Points, RefusedTable, Shape, TradeTable } from "./why_not/tables";
import { WhatIf } from "./why_not/what_if";
import { PointWords } from "./why_not/words";
import "./why_not/why_not.css";

const kAway = 22; // pixels: the height of a label next to a mark

/** Returns an anchor that keeps the tooltip off the labels next to a mark. */
function around(mark: Element): Anchor {
  return {
    getBoundingClientRect: () => {
      const { x, y, width, height } = mark.getBoundingClientRect();
      return new DOMRect(x, y - kAway, width, height + 2 * kAway);
    },
  };
}

/** The alternatives, their cost, and why they were not chosen. */
export function WhyNot({ plan, at, opened, open, tried, setTried }: SectionProps) {
  // Nothing here is highlighted with other sections, so it need not render again with them.
  return useMemo(
    () => (
      <Section id="why-not" title="Alternatives">
        {plan.why_not ? (
          <Others {...{ plan, at, opened }} whyNot={plan.why_not} setOpened={open} />
        ) : (
          <p {...cite(`${at}.why_not_missing`, plan.why_not_missing)}>{plan.why_not_missing}</p>
        )}
        <WhatIf {...{ plan, at, tried, setTried }} />
        <Fixes findings={plan.findings} at={at} />
      </Section>
    ),
    [plan, at, opened, tried],
  );
}

function Others(props: {
  plan: PlanReport;
  at: string;
  whyNot: Document;
  opened: number;
  setOpened: (point: number) => void;
}) {
  const { plan, at, whyNot, opened, setOpened } = props;
  const [hovered, setHovered] = useState(-1);
  const path = `${at}.why_not`;
  const capacity = plan.explain.estimate.memory?.capacity_bytes ?? 0;
  const { points } = whyNot;
  const hover = (point: number, mark?: Element) => {
    setHovered(point);
    if (mark) showTip(around(mark), <PointWords point={points[point]} />);
    else hideTip();
  };
  const open = (point: number) => {
    hideTip();
    setOpened(point);
  };
  return (
    <>
      {whyNot.words.map((words, i) => (
        <p class="prose" {...cite(`${path}.words.${i}`, words)}>
          {unbroken(words)}
        </p>
      ))}
      <ul class="legend roles">
        {kRoles
          .filter(({ role }) => points.some((point) => point.role === role))
          .map(({ role, name }) => (
            <li>
              <Shape role={role} /> {name}
            </li>
          ))}
      </ul>
      <Scatter
        {...{ points, capacity, hovered, hover, open }}
        device={plan.explain.cluster.device}
        capacityPath={`${at}.explain.estimate.memory.capacity_bytes`}
      />
      <Points {...{ points, hovered, hover, open }} path={`${path}.points`} />
      {plan.trade.length > 0 && <TradeTable trade={plan.trade} path={`${at}.trade`} />}
      {whyNot.refused.length > 0 && (
        <RefusedTable refused={whyNot.refused} path={`${path}.refused`} />
      )}
      <details>
        <summary>What was searched</summary>
        {whyNot.searched.map((words, i) => (
          <p class="prose" {...cite(`${path}.searched.${i}`, words)}>
            {unbroken(words)}
          </p>
        ))}
      </details>
      {opened >= 0 && opened < points.length && (
        <Opened
          point={points[opened]}
          path={`${path}.points.${opened}`}
          plan={plan.name}
          capacity={capacity}
          close={() => setOpened(-1)}
        />
      )}
    </>
  );
}
