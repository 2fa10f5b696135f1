// The document of `rankwright report --json` that the page shows: schema rankwright.report/1.
// Quantities are in base units (bytes, seconds, fractions of 1), with the unit in the key; `words` are
// finished sentences. Parts that other verbs print have the same form here.

export interface Report {
  schema: "rankwright.report/1";
  version: string; // of the tool
  command: string; // that wrote the page
  plans: PlanReport[]; // one, or the two that are compared
  compare: Compare | null;
}

export interface PlanReport {
  name: string; // the file; "plan.yaml" if the plan was found but not written
  verdict: Verdict;
  advice: Advice;
  tags: string[]; // "tp 8 on nvlink", "pp 16 x 8 chunks on leaf", "ZeRO-1", ...
  explain: Explain; // as `explain --json`
  findings: Finding[]; // as `check` finds them, most severe first
  ranks: Ranks;
  memory: StageMemory[] | null; // by pp rank; null if no model is named
  timeline: Timeline | null; // null if the step is too large to simulate
  measured: Measured | null;
  why_not: WhyNot | null; // null if nothing was searched
  trade: Trade[]; // what more headroom or fewer GPUs cost
  what_if: WhatIf[]; // by setting; empty if no model is named
  why_not_missing: string; // if it is null: why, and what to type; else ""
  file: string; // the plan as a file
  commands: Command[];
}

export interface Verdict {
  sentence: string;
  tone: "good" | "tie" | "fits" | "slower" | "unsure" | "refused";
  figures: Figure[]; // step, MFU, memory, ...
}
export interface Figure {
  name: string; // "step"
  text: string; // "65.1 s"
  detail: string; // "±13.4 % for nine of ten published runs"
}

/** The next step; see rankwright/planner/advice.h. */
export interface Advice {
  kind: "change" | "benchmark" | "keep" | "grow" | "inform";
  sentence: string;
  changes: { key: string; from: string; to: string }[]; // plan-file keys
  gains: { name: string; now: string; after: string; difference: string }[];
  runs: string; // which framework runs it; "" if nothing is advised
  command: string;
  file: string; // the advised plan; "" if there is none
}

export interface Finding {
  code: string;
  severity: "error" | "warning" | "note";
  title: string;
  message: string;
  notes: string[]; // consequences, and other fixes with their cost
  help: string;
}

export interface Command {
  what: string; // "what each number means", "the files of megatron"
  command: string;
  remark: string; // "RW0549: DeepSpeed AutoTP knows no pipeline; ..." or ""
}

// ---- the cluster, and the placement of ranks ------------------------------------------------

export interface Ranks {
  world: number;
  folded: boolean; // boxes represent several identical ones
  words: string; // a sentence that says what a box is
  levels: string[]; // innermost first
  root: Domain;
  devices: Device[]; // the drawn ones
  groups: Group[]; // of more than one rank, most interesting first
}
/** A domain of a level; it represents `count` identical ones. */
export interface Domain {
  level: number; // index in levels
  index: number; // in its level, of the first domain that it represents
  count: number;
  domains: Domain[]; // below it; empty for the innermost
  devices: number[]; // indices in Ranks.devices; empty but for the innermost
}
export interface Device {
  device: number;
  host: number;
  slot: number;
  stands_for: number; // devices of the cluster that this one represents
  rank: number; // -1 if idle
  tp: number;
  cp: number;
  pp: number;
  dp: number;
  ep: number;
  etp: number;
  edp: number;
  collectives: number[]; // that its pp rank calls: indices in explain.communication
}
export interface Group {
  kind: string; // "tp", "pp", "dp", "dp-cp", "ep", ...
  size: number;
  count: number; // such groups in the world
  spans: string; // "inside nvlink", "8 inside nvlink x 16 across infiniband"
  level: number; // the outermost level whose links it crosses
  of_device: number[]; // by drawn device: its group's number; equal numbers are highlighted together; -1 idle
  collectives: number[]; // that any of them calls: indices in explain.communication
}

// ---- memory --------------------------------------------------------------------------------

export interface StageMemory {
  pp_rank: number;
  holds: string; // "20 layers, embedding, head and loss"
  instant: string; // of the peak
  instant_words: string; // "at the loss"
  total_bytes: number;
  fits: boolean;
  verdict: string; // "fits with margin", "tight", "over, within estimate error", "does not fit"
  entries: { entry: string; bytes: number }[]; // nonzero ones, in the order of the memory estimate
}

// ---- the pipeline --------------------------------------------------------------------------

export interface Timeline {
  summary: TimelineSummary; // as `explain --timeline --json`
  words: string; // how the drawing relates to the estimate
  kinds: Kind[]; // an event's kind is an index here
  steps: string[]; // names of events that are not cells
  tick_seconds: number;
  end: number; // ticks
  rows: Row[];
  path: [number, number, number][]; // critical path: pp rank, begin, end in ticks
  memory: MemorySeries | null; // by row
  columns: Columns | null; // instead of events, if there are too many
}
/** By row, then by part of the step: the memory, in units. The activations that the rank holds then, on
 * top of everything else at its peak. */
export interface MemorySeries {
  unit_bytes: number;
  count: number;
  rows: number[][];
}
export interface Kind {
  name: string; // "forward"
  category: string;
  colors: string[]; // "#0072b2", by shade: of the first chunk, the second, ...
}
export interface Row {
  pp_rank: number;
  events: TimelineEvent[];
}
/** begin and length in ticks, kind, shade, stage, microbatch. For events that are not cells the stage is
 * -1, the microbatch an index in `steps`, and the shade 1 if it overlaps with the cells. */
export type TimelineEvent = [number, number, number, number, number, number];
/** By row, then by part of the step: the share of each kind, in percent. */
export interface Columns {
  count: number;
  rows: number[][][];
}
export interface TimelineSummary {
  headline: string;
  schedule: string;
  pp: number;
  chunks: number;
  microbatches: number;
  cells: number;
  times: string;
  step_seconds: number;
  idle_fraction: number;
  phases: { phase: string; begin_seconds: number; end_seconds: number }[];
  ranks: {
    pp_rank: number;
    cells_seconds: number;
    steps_seconds: number;
    idle_seconds: number;
    stage_activations_held: number;
    critical_path_seconds: number;
  }[];
  words: Record<string, string>; // "step", "idle", "critical path", "limits", "times"
}

/** A run's trace, drawn with the timeline's kinds. */
export interface Measured {
  name: string; // the file, with its path
  words: string; // "Measured 150 ms, 13.8 % of the ranks' time idle; predicted 150 ms, ..."
  tick_seconds: number;
  end: number;
  steps: string[];
  rows: Row[];
}

// ---- why not -------------------------------------------------------------------------------

export interface WhyNot {
  words: string[]; // why this plan; which plans tie
  searched: string[]; // what was searched, and in which space
  points: Point[];
  refused: Refused[]; // neighbors that are invalid, or that the target refuses
}
/** A valid plan, whether or not it fits. */
export interface Point {
  role: "this" | "best" | "tie" | "safe" | "front" | "neighbour";
  change: string; // of a neighbor, its difference from this plan: "tp 4"; else ""
  brief: string; // "tp 8 pp 2 x 4 dp 4 ZeRO-1 mb 2 interleaved-zb"
  step_seconds: number;
  memory_bytes: number;
  fits: boolean;
  difference: number; // of the step relative to this plan's, as a fraction
  because: string;
  file: string; // the plan as a file
}
/** A plan that trades step time for memory or GPUs. */
export interface Trade {
  what: string; // "leave 12.5 % of the memory free"
  gpus: number;
  brief: string;
  step_seconds: number;
  memory_bytes: number;
  difference: number; // of the step relative to this plan's, as a fraction
}
/** One setting of the plan, with other values of it; everything else stays as it is. */
export interface WhatIf {
  key: string; // as `explain --sweep` takes it: "tp"
  head: string; // "TP", "micro-batch"
  words: string; // what the values show
  fixed: string; // what stays, and what changes with the value
  rows: WhatIfRow[];
}
export interface WhatIfRow {
  value: string; // "8", "full"
  name: string; // "TP 8", "full recomputation"
  own: boolean; // the value that this plan has
  impossible: string; // why no such plan exists; else "", and the rest is set
  refused?: string; // the rule by which the framework cannot run it, or ""
  step_seconds?: number;
  difference?: number; // of the step relative to this plan's, as a fraction
  memory_bytes?: number;
  fits?: boolean;
  verdict?: string;
  file?: string; // the plan as a file
}
export interface Refused {
  change: string;
  brief: string;
  because: string;
}

// ---- what explain prints -------------------------------------------------------------------

export interface Explain {
  headline: string;
  words: string;
  world: number;
  model: {
    name: string;
    reference: boolean; // no model was named
    layers: number;
    parameters: Record<string, number>;
    training_flops_per_token: Record<string, number>;
  };
  cluster: {
    name: string;
    device: string;
    devices: number;
    memory_bytes: number;
    levels: {
      name: string;
      arity: number;
      bandwidth_bytes_per_second: number;
      bandwidth_origin: string;
      latency_seconds: number;
      latency_origin: string;
      oversubscription: number;
      per: string;
    }[];
  };
  job: Record<string, string | number>;
  plan: Record<string, string | number | boolean>;
  axes: { axis: string; degree: string; placement: string; reason: string }[];
  communication: Communication[];
  states: {
    state: string;
    tp: string;
    pp: string;
    cp: string;
    dp: string;
    ep: string;
    consistent: string;
    critical: string;
  }[];
  estimate: { step: Step; memory: Memory | null };
  assumed: { key: string; value: string; why: string }[];
}
export interface Communication {
  communication: string; // "TP all-gather"
  collective: string;
  group: string; // kind of Ranks.groups
  group_size: number;
  frequency: string;
  pp_rank: number;
  calls: number;
  bytes: number;
  total_bytes: number;
  wire_bytes: number;
  preferred_level: string;
  level: string;
  slowest_level: string;
  algorithm: string;
  groups_per_link: number;
  seconds: number;
  seconds_origin: string;
  critical_path: boolean;
  risk: string;
}
export interface Band {
  within: number;
  runs: number;
  origin: string;
}
export interface Step {
  seconds: number;
  band: Band;
  tokens_per_second_per_device: number;
  mfu: number; // attention halved
  mfu_palm_full: number; // attention in full
  slowest_pp_rank: number;
  items: Item[];
}
export interface Item {
  item: string;
  seconds: number;
  overlapped_seconds: number; // beside computation, not part of the step
  share: number;
  computes: boolean;
  origin: string;
  level: string; // that its collectives cross; "" for computing or waiting
  collectives: number[]; // indices in communication
  remark: string;
}
export interface Memory {
  pp_rank: number;
  instant: string;
  instant_words: string;
  total_bytes: number;
  capacity_bytes: number;
  fits: boolean;
  verdict: string; // "tight"
  sure: boolean;
  band: Band;
  entries: { entry: string; bytes: number; origin: string; formula: string; meaning: string }[];
  total_bytes_by_pp_rank: number[];
}

// ---- what compare prints -------------------------------------------------------------------

export interface Compare {
  a: Side;
  b: Side;
  basis: string;
  unlike: string; // why steps are not compared; "" if they are
  fit: string;
  verdict: {
    text: string;
    faster: "a" | "b" | null;
    lead: number;
    within: number; // the error of a comparison
    paired: boolean; // two plans of one model
    tie: boolean;
  };
  differs: { key: string; a: string; b: string; a_assumed: boolean; b_assumed: boolean }[];
  time: {
    items: { item: string; a_seconds: number; b_seconds: number; difference_seconds: number }[];
    a_seconds: number;
    b_seconds: number;
    difference_seconds: number;
  };
  causes: { item: string; difference_seconds: number; words: string }[];
  memory: { entry: string; a_bytes: number; b_bytes: number; difference_bytes: number }[] | null;
}
export interface Side {
  name: string;
  headline: string;
  plan: string;
  world: number;
  step_seconds: number;
  within: number;
  tokens_per_second_per_device: number;
  mfu: number;
  memory: {
    pp_rank: number;
    total_bytes: number;
    capacity_bytes: number;
    fits: boolean;
    verdict: string;
    sure: boolean;
  } | null;
}
