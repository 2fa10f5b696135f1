// Opens pages and pictures in one browser and prints the content and activity of each as JSON.
// tests/hostile_names_test.py checks it.
//
//     node web/tests/hostile.mjs FILES.json     {"pages": [PATH, ...], "pictures": [PATH, ...]}
import { readFileSync } from "node:fs";
import { Browser } from "./browser.mjs";

/** Counts the elements of a document by kind, and lists those that could run code. */
function inventory() {
  const tags = {};
  const handlers = [];
  for (const one of document.querySelectorAll("*")) {
    tags[one.localName] = (tags[one.localName] ?? 0) + 1;
    for (const { name, value } of one.attributes) {
      const acts = /^on/i.test(name) || /^\s*(javascript|data|https?):/i.test(value);
      if (acts && !name.startsWith("xmlns"))
        handlers.push(`${one.localName} ${name}=${value}`.slice(0, 200));
    }
  }
  return { tags, handlers, canary: "CANARY" in window };
}

const files = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await Browser.open();
const seen = {};
for (const [kind, paths] of Object.entries(files))
  for (const path of paths)
    try {
      const page = await browser.page(path, { drawn: kind === "pages" });
      const { complaints, requests } = page;
      seen[path] = { ...(await page.evaluate(inventory)), complaints, requests };
      await page.close();
    } catch (error) {
      const complaints = [String(error)]; // such as a page that is not drawn
      seen[path] = { tags: {}, handlers: [], canary: false, complaints, requests: [] };
    }
await browser.close();
console.log(JSON.stringify(seen));
