import type { Device, Ranks } from "../../document";
import { plural } from "../../format";

const kAxes = ["tp", "cp", "pp", "dp", "ep", "etp", "edp"] as const;
export type Axis = (typeof kAxes)[number];

/** The axes along which there is a group; the others have degree 1. */
export function axesOf(ranks: Ranks): Axis[] {
  return kAxes.filter((axis) => ranks.groups.some((group) => group.kind === axis));
}

export function deviceName(device: Device): string {
  return device.rank < 0 ? `idle device ${device.device}` : `rank ${device.rank}`;
}

export function standsFor(device: Device): string {
  return device.stands_for > 1
    ? `stands for ${plural(device.stands_for, "device", "devices")} alike`
    : "";
}

/** Returns the description of a device for screen readers. */
export function seatSentence(ranks: Ranks, device: number): string {
  const d = ranks.devices[device];
  const places = d.rank < 0 ? [] : axesOf(ranks).map((axis) => `${axis} ${d[axis]}`);
  const parts = [deviceName(d), `node ${d.host}`, `slot ${d.slot}`, ...places, standsFor(d)];
  return parts.filter((part) => part !== "").join(", ");
}
