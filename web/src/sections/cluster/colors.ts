// Colors of devices by their group or their pp rank: those of rankwright/report/render/chart.cc, the
// same in light and dark mode.
import type { Group, Ranks } from "../../document";

const kHues = [
  [0x00, 0x72, 0xb2],
  [0xe6, 0x9f, 0x00],
  [0x00, 0x9e, 0x73],
  [0x56, 0xb4, 0xe9],
  [0xd5, 0x5e, 0x00],
  [0xf0, 0xe4, 0x42],
  [0xcc, 0x79, 0xa7],
  [0x90, 0x90, 0x90],
];
/** The plain hues, then mixed with white, then with black. */
const kMixes = [
  { mixedWith: 0, share: 0 },
  { mixedWith: 255, share: 0.55 },
  { mixedWith: 0, share: 0.45 },
];

export const kColors = kHues.length * kMixes.length; // colors repeat after the last

export function chartColor(index: number): string {
  const { mixedWith, share } = kMixes[Math.floor(index / kHues.length) % kMixes.length];
  const mixed = kHues[index % kHues.length].map((c) =>
    Math.round(c * (1 - share) + mixedWith * share),
  );
  return `#${mixed.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the color by drawn device; "" if idle. */
export function deviceColors(ranks: Ranks, group: Group | undefined): string[] {
  return ranks.devices.map((device, i) => {
    if (device.rank < 0) return "";
    if (!group) return chartColor(0);
    return chartColor(group.kind === "pp" ? device.pp : group.of_device[i]);
  });
}
