import type { Compare, Verdict } from "../../document";

/** A faster plan is good only if it fits. */
export function toneOf(compare: Compare): { tone: Verdict["tone"]; words: string } {
  const { tie, faster } = compare.verdict;
  if (tie || !faster) return { tone: "tie", words: tie ? "≈ A tie" : "" };
  const { memory: m } = compare[faster];
  if (!m) return { tone: "unsure", words: "" }; // `fit` says so
  if (m.verdict === "fits with margin") return { tone: "good", words: "" };
  const words = `${faster.toUpperCase()}: ${m.verdict}`;
  if (m.verdict === "does not fit") return { tone: "refused", words: `✕ ${words}` };
  return { tone: "unsure", words: `? ${words}` };
}
