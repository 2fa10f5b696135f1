// The page's palettes: one for axes of parallelism, one for kinds of time, one for kinds of memory.
// Every color has a contrast of at least 3 : 1 on the light and on the dark ground, so that the same
// value serves both; contrast.test.ts checks it. The colors of time are those of
// rankwright/report/render/event_color.cc and rankwright/report/page/step_svg.cc.

/** Kinds of groups, by their axis. */
export const kAxisColors: Record<string, string> = {
  tp: "#8b5cf6",
  etp: "#8b5cf6",
  cp: "#0e8aa8",
  pp: "#b45f06",
  edges: "#b45f06",
  mirror: "#b45f06",
  dp: "#2e8b3d",
  "dp-cp": "#2e8b3d",
  edp: "#2e8b3d",
  shard: "#2e8b3d",
  replicate: "#2e8b3d",
  ep: "#d0407f",
};

/** Entries of the memory estimate: states in greens, activations and what a step allocates in reds and
 * browns, overheads in grays. */
export const kEntryColors: Record<string, string> = {
  parameters: "#0f8a80",
  gradients: "#4f8f5b",
  optimizer: "#7d8a1f",
  "reference model": "#2f866a",
  activations: "#c4506e",
  "recomputed layer": "#a8607f",
  "layer gradients": "#9a6fb0",
  logits: "#b3703a",
  "head gradient": "#a5714f",
  "embedding gradient": "#94775f",
  "gathered units": "#8f6fc4",
  "weight copies": "#5f8a9e",
  "reduce-scatter": "#7b76b5",
  "sequence gather": "#6a7db0",
  "empty gradients": "#8a7a3a",
  buckets: "#7f8048",
  "rotary tables": "#6b865a",
  "optimizer temporaries": "#9a8e2e",
  workspace: "#6f7a83",
  "graph pool": "#737d86",
  reserve: "#77818a",
  context: "#7f868c",
  "dispatch buffers": "#7a8894",
  communicators: "#868b90",
};

/** Kinds of time in the step. Idle time is hatched, not only gray. */
export const kTimeColors = {
  math: "#1b7fbd",
  computes: "#4b8fb5",
  communicates: "#b25f95",
  waits: "#808080",
};

const kOther = "#808080";

export function kindColor(kind: string): string {
  return kAxisColors[kind] ?? kOther;
}

export const hasColor = (kind: string) => kind in kAxisColors;

export function entryColor(entry: string): string {
  return kEntryColors[entry] ?? kOther;
}
