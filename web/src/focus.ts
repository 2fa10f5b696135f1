// The element under the pointer or keyboard focus, and what is highlighted with it. All links between
// sections are defined here; a section only asks whether its element is lit.
import type { Device, Group, PlanReport } from "./document";
import type { Tried } from "./selection";

export type Focus =
  | { on: "nothing" }
  | { on: "device"; device: number; kind?: string } // a drawn device; with a kind, one of its groups
  | { on: "pp"; ppRank: number }
  | { on: "kind"; kind: string } // of groups
  | { on: "level"; level: number }
  | { on: "item"; item: number } // of the step
  | { on: "collective"; collective: number }; // row of explain.communication

export const nothing: Focus = { on: "nothing" };

/** Lit elements by index in the document (kinds by name). An empty set: none of that type is affected. */
export interface Lit {
  devices: Set<number>; // drawn ones
  ppRanks: Set<number>;
  kinds: Set<string>;
  levels: Set<number>;
  items: Set<number>;
  collectives: Set<number>;
  /** By drawn device: the kinds of the groups that it shares with the focused one. */
  groupsOf: Map<number, string[]>;
}

/** Highlights an element while it is pointed at; `pin` keeps it highlighted, or releases it if it is
 * pinned already. */
export interface Point {
  (focus: Focus): void;
  pin: (focus: Focus) => void;
}

/** The props of every section of a plan. */
export interface SectionProps {
  plan: PlanReport;
  at: string; // the plan's path in the document: "plans.0"
  lit: Lit;
  point: Point;
  pinned: Focus;
  range: [from: number, to: number] | null; // selected part of the timeline, in seconds
  setRange: (range: [number, number] | null) => void;
  opened: number; // alternative whose details are open; -1: none
  open: (point: number) => void;
  tried: Tried | null; // another value of a setting
  setTried: (tried: Tried | null) => void;
  compared: boolean; // the page compares two plans
}

/** Returns a CSS class: "lit", "faded" if others of the set are lit, or "". */
export function mood<T>(set: Set<T>, thing: T): "lit" | "faded" | "" {
  if (set.size === 0) return "";
  return set.has(thing) ? "lit" : "faded";
}

export function lit(plan: PlanReport, focus: Focus): Lit {
  switch (focus.on) {
    case "nothing":
      return dark();
    case "device":
      return litByDevice(plan, focus.device, focus.kind);
    case "pp":
      return {
        ...dark(),
        ppRanks: new Set([focus.ppRank]),
        devices: devicesOf(plan, focus.ppRank),
      };
    case "kind": {
      const groups = plan.ranks.groups.filter((g) => g.kind === focus.kind);
      return {
        ...litByCollectives(
          plan,
          groups.flatMap((g) => g.collectives),
        ),
        kinds: new Set([focus.kind]),
        devices: members(groups),
      };
    }
    case "level":
      return {
        ...litByCollectives(plan, collectivesOn(plan, focus.level)),
        levels: new Set([focus.level]),
      };
    case "item":
      return {
        ...litByCollectives(plan, plan.explain.estimate.step.items[focus.item].collectives),
        items: new Set([focus.item]),
      };
    case "collective":
      return {
        ...litByCollectives(plan, [focus.collective]),
        devices: members(plan.ranks.groups.filter((g) => g.collectives.includes(focus.collective))),
      };
  }
}

function dark(): Lit {
  return {
    devices: new Set(),
    ppRanks: new Set(),
    kinds: new Set(),
    levels: new Set(),
    items: new Set(),
    collectives: new Set(),
    groupsOf: new Map(),
  };
}

/** Returns what collectives light: themselves, the kinds of groups that call them, the levels that they
 * cross, and the items of the step that wait for them. */
function litByCollectives(plan: PlanReport, collectives: number[]): Lit {
  const rows = collectives.map((c) => plan.explain.communication[c]);
  const called = new Set(collectives);
  return {
    ...dark(),
    collectives: called,
    kinds: new Set([
      ...rows.map((row) => row.group),
      ...plan.ranks.groups
        .filter((g) => g.collectives.some((c) => called.has(c)))
        .map((g) => g.kind),
    ]),
    levels: new Set(rows.flatMap((row) => levelsOf(plan, row.level, row.slowest_level))),
    items: new Set(
      plan.explain.estimate.step.items.flatMap((item, i) =>
        item.collectives.some((c) => called.has(c)) ? [i] : [],
      ),
    ),
  };
}

/** Returns what a device lights: only itself if idle, else also devices that share a group, and the
 * collectives that it calls. */
function litByDevice(plan: PlanReport, device: number, kind?: string): Lit {
  const groups = plan.ranks.groups.filter(
    (g) => g.of_device[device] >= 0 && (kind === undefined || g.kind === kind),
  );
  const groupsOf = new Map<number, string[]>([[device, []]]);
  for (const group of groups)
    group.of_device.forEach((number, other) => {
      if (number !== group.of_device[device]) return;
      groupsOf.set(other, [...(groupsOf.get(other) ?? []), group.kind]);
    });
  const idle = plan.ranks.devices[device].rank < 0;
  return {
    ...litByCollectives(
      plan,
      groups.flatMap((g) => calledBy(plan.ranks.devices[device], g)),
    ),
    devices: new Set(groupsOf.keys()),
    ppRanks: new Set(idle ? [] : [plan.ranks.devices[device].pp]),
    kinds: new Set(groups.map((g) => g.kind)),
    groupsOf,
  };
}

/** Returns the collectives of a kind's groups that the device itself calls. */
export function calledBy(device: Device, group: Group): number[] {
  return group.collectives.filter((c) => device.collectives.includes(c));
}

function levelsOf(plan: PlanReport, ...names: string[]): number[] {
  return names.map((name) => plan.ranks.levels.indexOf(name)).filter((level) => level >= 0);
}

function collectivesOn(plan: PlanReport, level: number): number[] {
  return plan.explain.communication.flatMap((row, i) =>
    levelsOf(plan, row.level, row.slowest_level).includes(level) ? [i] : [],
  );
}

function devicesOf(plan: PlanReport, ppRank: number): Set<number> {
  return new Set(plan.ranks.devices.flatMap((d, i) => (d.rank >= 0 && d.pp === ppRank ? [i] : [])));
}

function members(groups: Group[]): Set<number> {
  return new Set(
    groups.flatMap((g) => g.of_device.flatMap((n, device) => (n >= 0 ? [device] : []))),
  );
}

export function sameFocus(a: Focus, b: Focus): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
