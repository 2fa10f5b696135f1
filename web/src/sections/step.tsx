import { Axis, scaleTo, span, ticks } from "../bars";
import { cite } from "../cite";
import type { Item } from "../document";
import { mood, type SectionProps } from "../focus";
import { percent, seconds, share, unbroken } from "../format";
import { useRoving } from "../roving";
import { Section } from "../section";
import { pointing } from "../tooltip";
import "./step.css";

/** A waterfall of the step's time: each bar begins where the previous one ends. */
export function Step({ plan, at, lit, point }: SectionProps) {
  const step = plan.explain.estimate.step;
  const path = `${at}.explain.estimate.step`;
  const most = step.seconds * (1 + step.band.within);
  const scale = scaleTo(most);
  const { stop, list } = useRoving(step.items.length);
  const begins = beginnings(step.items);
  return (
    <Section
      id="step"
      title="Step"
      lead="Where the time of a step goes, on the slowest PP rank. Each bar begins where the previous one ends."
    >
      <Legend items={step.items} />
      <ol class="bars folding falls" {...list}>
        <Axis scale={scale} ticks={ticks(most)} show={seconds} />
        {step.items.map((item, i) => (
          <li
            class={`bar-row ${mood(lit.items, i)}`}
            aria-label={sentence(item)}
            {...stop(i)}
            {...pointing(point, { on: "item", item: i }, () => (
              <Words
                item={item}
                names={item.collectives.map((c) => plan.explain.communication[c].communication)}
              />
            ))}
          >
            <span class="name">{item.item}</span>
            <span class="track">
              <span
                class={`bar ${family(item)}`}
                style={span(scale, begins[i], begins[i] + item.seconds)}
              />
              {item.level && (
                <span class="level" style={beside(scale, begins[i], begins[i] + item.seconds)}>
                  {item.level}
                </span>
              )}
            </span>
            <span class="number" {...cite(`${path}.items.${i}.seconds`, item.seconds)}>
              {seconds(item.seconds)}
            </span>
            <span class="number quiet" {...cite(`${path}.items.${i}.share`, item.share)}>
              {share(item.share)}
            </span>
            <span class="remark">{unbroken(item.remark)}</span>
          </li>
        ))}
        <li class="bar-row total">
          <span class="name">step</span>
          <span class="track">
            <span class="bar whole" style={span(scale, 0, step.seconds)} />
            <span
              class="whisker"
              style={span(scale, step.seconds * (1 - step.band.within), most)}
            />
          </span>
          <span class="number" {...cite(`${path}.seconds`, step.seconds)}>
            {seconds(step.seconds)}
          </span>
          <span class="number quiet" {...cite(`${path}.band.within`, step.band.within)}>
            ±{percent(Math.round(100 * step.band.within) / 100)}
          </span>
          <span class="remark">{origin(step.band)}</span>
        </li>
      </ol>
    </Section>
  );
}

/** The kinds of bars, with the order and names of the legend in rankwright/report/page/step_svg.cc;
 * compute is dark. */
type Family = "math" | "computes" | "communicates" | "waits";
const kFamilies: [Family, string][] = [
  ["math", "the model's FLOPs"],
  ["computes", "other computing"],
  ["communicates", "exposed communication"],
  ["waits", "idle"],
];
const kMath = ["matmuls", "attention", "vocabulary"];

function family(item: Item): Family {
  if (kMath.includes(item.item)) return "math";
  if (item.computes) return "computes";
  return item.level ? "communicates" : "waits";
}

function Legend({ items }: { items: Item[] }) {
  return (
    <ul class="legend">
      {kFamilies
        .filter(([key]) => items.some((item) => family(item) === key))
        .map(([key, words]) => (
          <li>
            <span class={`swatch ${key}`} />
            {words}
          </li>
        ))}
    </ul>
  );
}

function Words({ item, names }: { item: Item; names: string[] }) {
  return (
    <>
      <b>{item.item}</b> {seconds(item.seconds)}, {share(item.share)} of the step
      {item.remark && <div>{unbroken(item.remark)}</div>}
      {names.length > 0 && <div>for {names.join(", ")}</div>}
      <div class="quiet">{item.origin}</div>
    </>
  );
}

function sentence(item: Item): string {
  const level = item.level && `, on ${item.level}`;
  const time = `${seconds(item.seconds)}, ${share(item.share)} of the step`;
  return `${item.item}: ${time}${level}. ${item.remark}`;
}

function origin(band: { runs: number; origin: string }): string {
  return band.runs === 0 ? band.origin : `nine of ten of ${band.runs} published runs are inside`;
}

function beginnings(items: Item[]): number[] {
  let sum = 0;
  return items.map((item) => (sum += item.seconds) - item.seconds);
}

/** Places the level's name after its bar, or before it if the bar ends far to the right. */
function beside(scale: (s: number) => number, from: number, to: number) {
  return scale(to) < 70 ? { left: `${scale(to)}%` } : { right: `${100 - scale(from)}%` };
}
