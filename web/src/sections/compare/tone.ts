import type { Compare, Verdict } from "../../document";

/** A faster plan is good only if it fits. */
export function toneOf(compare: Compare): { tone: Verdict["tone"]; words: string } {
  const { tie, faster } = compare.verdict;
  if (tie || !faster) return { tone: "tie", words: tie ? "≈ A tie" : "" };
  const { memory: m } = compare[faster];
  if (!m) return { tone: "unsure", words: "" }; // `fit` says so
  if (!m.sure) return { tone: "unsure", words: `? ${faster.toUpperCase()} may not fit` };
  if (!m.fits) return { tone: "refused", words: `✕ ${faster.toUpperCase()} does not fit` };
  return { tone: "good", words: "" };
}
