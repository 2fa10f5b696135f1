/** Returns attributes for an element that shows a figure of the document: its path and its value. Tests
 * compare the page with the document by them. */
export function cite(path: string, value: number | string | boolean) {
  return { "data-path": path, "data-value": String(value) };
}
