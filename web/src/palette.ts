// Colors with the same meaning in every section. Their hues, in theme.css, are those of Okabe and Ito,
// which color-blind people can distinguish; members of one family differ in lightness.

/** Kinds of groups, by their axis. */
const kKinds: Record<string, string> = {
  tp: "var(--blue)",
  etp: "var(--blue)",
  cp: "var(--sky)",
  pp: "var(--vermillion)",
  edges: "var(--vermillion)",
  mirror: "var(--vermillion)",
  dp: "var(--green)",
  "dp-cp": "var(--green)",
  edp: "var(--green)",
  shard: "var(--green)",
  replicate: "var(--green)",
  ep: "var(--purple)",
};

/** Entries of the memory estimate: states, activations, temporary buffers, overheads. */
const kEntries: Record<string, string> = {
  parameters: "var(--blue)",
  gradients: "var(--sky)",
  optimizer: "var(--green)",
  activations: "var(--orange)",
  "recomputed layer": "#f5cf7d",
  "layer gradients": "var(--yellow)",
  logits: "var(--vermillion)",
  "head gradient": "#ee9a63",
  "embedding gradient": "#f6c7a4",
  "gathered units": "var(--purple)",
  "reduce-scatter": "#e3b4d0",
  "sequence gather": "#9b4d7c",
  "empty gradients": "#8a7344",
  buckets: "#b8a57a",
  workspace: "#5c6369",
  reserve: "#7d858c",
  context: "#a2a9af",
  communicators: "#c5cace",
};

export function kindColor(kind: string): string {
  return kKinds[kind] ?? "var(--grey)";
}

export const hasColor = (kind: string) => kind in kKinds;

export function entryColor(entry: string): string {
  return kEntries[entry] ?? "var(--grey)";
}
