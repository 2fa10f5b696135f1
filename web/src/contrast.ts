/** Black or white, whichever is read better on `color`, "#rrggbb" or "rgb(r, g, b)". */
export function inkOn(color: string): string {
  const [r, g, b] = color.startsWith("#")
    ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16))
    : color.match(/\d+/g)!.map(Number);
  const linear = (c: number) => (c / 255) ** 2.2;
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) > 0.2 ? "#111" : "#fff";
}
