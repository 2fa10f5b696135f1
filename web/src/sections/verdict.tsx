import { cite } from "../cite";
import type { Finding, Verdict as Words } from "../document";
import type { SectionProps } from "../focus";
import { plural, unbroken } from "../format";
import { hasColor, kindColor } from "../palette";
import { Section } from "../section";
import { Advice } from "./advice";
import "./verdict.css";

/** Shown with a symbol and a word, not by color alone. */
const kTones: Record<Words["tone"], [sign: string, word: string]> = {
  good: ["✓", "Good"],
  tie: ["≈", "Too close to call"],
  fits: ["·", "Fits"],
  slower: ["▾", "A faster layout exists"],
  unsure: ["?", "Uncertain"],
  refused: ["✕", "Cannot run"],
};

export function Verdict({ plan, at, compared }: SectionProps) {
  const { tone, sentence, figures } = plan.verdict;
  const [sign, word] = kTones[tone];
  return (
    <Section id="verdict" title="Verdict">
      <p class={`sentence ${tone}`}>
        <span class="tone">
          <span aria-hidden="true">{sign}</span> {word}
        </span>
        <span {...cite(`${at}.verdict.sentence`, sentence)}>{unbroken(sentence)}</span>
      </p>
      {!compared && <Advice advice={plan.advice} path={`${at}.advice`} />}
      <Tags tags={plan.tags} />
      <dl class="figures">
        {figures.map((figure, i) => (
          <div>
            <dt>{figure.name}</dt>
            <dd class="figure" {...cite(`${at}.verdict.figures.${i}.text`, figure.text)}>
              <Large text={figure.text} />
            </dd>
            <dd class="quiet">{unbroken(figure.detail)}</dd>
          </div>
        ))}
      </dl>
      <details class="in-words">
        <summary>The plan in words</summary>
        <p class="prose" {...cite(`${at}.explain.words`, plan.explain.words)}>
          {unbroken(plan.explain.words)}
        </p>
      </details>
      <Findings findings={plan.findings} />
    </Section>
  );
}

/** Shows the number large, and its unit or total smaller. */
function Large({ text }: { text: string }) {
  const end = text.search(/ |$/);
  return (
    <>
      {text.slice(0, end)}
      <small>{text.slice(end)}</small>
    </>
  );
}

/** The plan's tags; a tag that begins with an axis has the axis's color. */
export function Tags({ tags }: { tags: string[] }) {
  return (
    <ul class="tags" aria-label="The plan">
      {tags.map((tag) => (
        <li>
          {hasColor(axisOf(tag)) && (
            <span class="swatch round" style={{ background: kindColor(axisOf(tag)) }} />
          )}
          {tag}
        </li>
      ))}
    </ul>
  );
}

const axisOf = (tag: string) => tag.split(" ")[0];

const kSeverities = ["error", "warning", "note"] as const;

function Findings({ findings }: { findings: Finding[] }) {
  if (findings.length === 0) return <p class="quiet">rankwright check: no problems found.</p>;
  const counts = kSeverities
    .map((severity) => findings.filter((f) => f.severity === severity).length)
    .flatMap((n, i) => (n > 0 ? [plural(n, kSeverities[i], `${kSeverities[i]}s`)] : []));
  return (
    <details class="findings" open={findings.some((f) => f.severity === "error")}>
      <summary>{counts.join(", ")} from rankwright check</summary>
      <ul>
        {findings.map((finding) => (
          <li class={finding.severity}>
            <div>
              <span class="severity">{finding.severity}</span> <code>{finding.code}</code>{" "}
              <b>{finding.title}</b>
            </div>
            {finding.message && <div>{unbroken(finding.message)}</div>}
            {finding.notes.map((note) => (
              <div class="quiet">{unbroken(note)}</div>
            ))}
            {finding.help && (
              <div class="quiet">
                help: <code>{finding.help}</code>
              </div>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
