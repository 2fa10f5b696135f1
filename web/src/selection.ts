// The pinned selection, as the page's URL states it, so that a view can be sent to a colleague:
// "#on=device:17&t=1.5-2.25&plan=1&open=3&try=tp:4". A hash without "=" is the address of a section.
import type { PlanReport } from "./document";
import { type Focus, nothing } from "./focus";

/** Another value of a setting: indices in PlanReport.what_if and in its rows. */
export interface Tried {
  setting: number;
  row: number;
}

/** The state that the URL keeps. */
export interface Selection {
  pinned: Focus;
  range: [from: number, to: number] | null; // of the timeline, in seconds
  plan: number; // which of the compared plans is shown
  opened: number; // alternative whose details are open; -1: none
  tried: Tried | null;
}

export const noSelection: Selection = {
  pinned: nothing,
  range: null,
  plan: 0,
  opened: -1,
  tried: null,
};

export function formatHash(selection: Selection, plans: PlanReport[]): string {
  const { pinned, range, plan, opened, tried } = selection;
  const parts = [];
  if (pinned.on !== "nothing") parts.push(`on=${formatFocus(pinned)}`);
  if (range) parts.push(`t=${range.map((s) => String(Number(s.toPrecision(6)))).join("-")}`);
  if (plan > 0) parts.push(`plan=${plan}`);
  if (opened >= 0) parts.push(`open=${opened}`);
  if (tried) {
    const setting = plans[plan].what_if[tried.setting];
    parts.push(`try=${setting.key}:${setting.rows[tried.row].value}`);
  }
  return parts.length > 0 ? `#${parts.join("&")}` : "";
}

/** Returns the selection of a hash. A URL is untrusted: elements that the plans do not have are ignored. */
export function parseHash(hash: string, plans: PlanReport[]): Selection {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const plan = Number(values.get("plan") ?? 0);
  const shown = Number.isInteger(plan) && plan >= 0 && plan < plans.length ? plan : 0;
  const pinned = parseFocus(values.get("on") ?? "", plans[shown]);
  const times = (values.get("t") ?? "").match(/^([\d.]+(?:e-?\d+)?)-([\d.]+(?:e-?\d+)?)$/);
  const range: [number, number] | null = times ? [Number(times[1]), Number(times[2])] : null;
  const open = values.get("open") ?? "";
  const known = /^\d{1,4}$/.test(open) && Number(open) < (plans[shown].why_not?.points.length ?? 0);
  return {
    pinned,
    range: range && range[1] > range[0] ? range : null,
    plan: shown,
    opened: known ? Number(open) : -1,
    tried: parseTried(values.get("try") ?? "", plans[shown]),
  };
}

function parseTried(text: string, plan: PlanReport): Tried | null {
  const [key, value] = text.split(":");
  const setting = plan.what_if.findIndex((one) => one.key === key);
  if (setting < 0) return null;
  const row = plan.what_if[setting].rows.findIndex((one) => one.value === value && !one.own);
  return row < 0 ? null : { setting, row };
}

function formatFocus(focus: Focus): string {
  switch (focus.on) {
    case "nothing":
      return "";
    case "device":
      return focus.kind ? `device:${focus.device}:${focus.kind}` : `device:${focus.device}`;
    case "pp":
      return `pp:${focus.ppRank}`;
    case "kind":
      return `group:${focus.kind}`;
    case "level":
      return `level:${focus.level}`;
    case "item":
      return `step:${focus.item}`;
    case "collective":
      return `call:${focus.collective}`;
  }
}

function parseFocus(text: string, plan: PlanReport): Focus {
  const [on, value = "", kind] = text.split(":");
  const index = (count: number) =>
    /^\d{1,9}$/.test(value) && Number(value) < count ? Number(value) : -1;
  const hasKind = (name: string) => plan.ranks.groups.some((group) => group.kind === name);
  if (on === "device") {
    const device = index(plan.ranks.devices.length);
    if (device < 0) return nothing;
    return kind && hasKind(kind) ? { on, device, kind } : { on, device };
  }
  if (on === "pp") {
    const ranks = new Set(plan.ranks.devices.map((device) => device.pp));
    return /^\d{1,9}$/.test(value) && ranks.has(Number(value))
      ? { on, ppRank: Number(value) }
      : nothing;
  }
  if (on === "group") return hasKind(value) ? { on: "kind", kind: value } : nothing;
  if (on === "level") {
    const level = index(plan.ranks.levels.length);
    return level < 0 ? nothing : { on, level };
  }
  if (on === "step") {
    const item = index(plan.explain.estimate.step.items.length);
    return item < 0 ? nothing : { on: "item", item };
  }
  if (on === "call") {
    const collective = index(plan.explain.communication.length);
    return collective < 0 ? nothing : { on: "collective", collective };
  }
  return nothing;
}

/** Names a pinned element. */
export function nameFocus(focus: Focus, plan: PlanReport): string {
  switch (focus.on) {
    case "nothing":
      return "";
    case "device": {
      const { rank, device } = plan.ranks.devices[focus.device];
      const name = rank < 0 ? `idle device ${device}` : `rank ${rank}`;
      return focus.kind ? `${focus.kind} group of ${name}` : name;
    }
    case "pp":
      return `PP rank ${focus.ppRank}`;
    case "kind":
      return `${focus.kind} groups`;
    case "level":
      return plan.ranks.levels[focus.level];
    case "item":
      return plan.explain.estimate.step.items[focus.item].item;
    case "collective":
      return plan.explain.communication[focus.collective].communication;
  }
}
