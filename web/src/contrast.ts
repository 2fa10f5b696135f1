/** Returns black or white, whichever has more contrast on `color`, "#rrggbb" or "rgb(r, g, b)". Same as
 * choose_text_color in rankwright/report/render/event_color.cc. */
export function inkOn(color: string): string {
  const light = luminance(color) + 0.05;
  return light / 0.05 >= 1.05 / light ? "#000" : "#fff";
}

/** Returns the contrast of two colors, 1 to 21, as in WCAG 2.1: (lighter + 0.05) / (darker + 0.05). */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one) + 0.05, luminance(other) + 0.05];
  return Math.max(a, b) / Math.min(a, b);
}

function luminance(color: string): number {
  const [r, g, b] = color.startsWith("#")
    ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16))
    : color.match(/\d+/g)!.map(Number);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** Returns the linear value of a channel, as in WCAG 2.1. */
function linear(channel: number): number {
  const v = channel / 255;
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
}
