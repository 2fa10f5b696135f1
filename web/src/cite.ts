/** Attributes of an element that shows a figure of the document: where in it, and the figure as it
 * is there. Tests compare page and document by them. */
export function cite(path: string, value: number | string | boolean) {
  return { "data-path": path, "data-value": String(value) };
}
