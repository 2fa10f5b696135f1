// Colours of devices by the group that they are in, or by their place on pp. All are light enough
// for dark digits, or so dark that white ones are read; they are the same by day and night.
import { scaleLinear } from "d3-scale";
import type { Group, Ranks } from "../../document";

/** For groups, whose numbers mean nothing: neighbours differ, and after the last they repeat. */
export const kCycle = [
  "#56b4e9",
  "#e8a317",
  "#45bf97",
  "#f2e55c",
  "#ec7d52",
  "#d68fbd",
  "#a9b8f5",
  "#b4cf45",
  "#cfa77c",
  "#7fd9de",
  "#f7b7c3",
  "#b9bec4",
];

/** For pp, which has an order: viridis without its darkest part. */
const ramp = scaleLinear<string>(
  [0, 0.25, 0.5, 0.75, 1],
  ["#fde725", "#7ad151", "#22a884", "#2a788e", "#414487"],
);

export function stageColor(ppRank: number, pp: number): string {
  return ramp(pp > 1 ? ppRank / (pp - 1) : 0);
}

/** By drawn device; "" of an idle one. */
export function deviceColors(ranks: Ranks, group: Group | undefined): string[] {
  return ranks.devices.map((device, i) => {
    if (device.rank < 0) return "";
    if (!group) return kCycle[0];
    if (group.kind === "pp") return stageColor(device.pp, group.size);
    return kCycle[group.of_device[i] % kCycle.length];
  });
}
