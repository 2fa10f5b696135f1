import type { Compare, Verdict } from "../../document";

/** A faster plan is good only if it fits. */
export function toneOf(compare: Compare): { tone: Verdict["tone"]; words: string } {
  const { tie, faster } = compare.verdict;
  if (tie || !faster) return { tone: "tie", words: tie ? "≈ A tie" : "" };
  const { memory: m } = compare[faster];
  // Without a model, `fit` says that the memory is unknown; the win is still clear.
  if (!m || m.verdict === "fits with margin") return { tone: "good", words: "" };
  const words = `${faster.toUpperCase()}: ${m.verdict}`;
  if (m.verdict === "does not fit") return { tone: "refused", words: `✕ ${words}` };
  return { tone: "unsure", words: `? ${words}` };
}
