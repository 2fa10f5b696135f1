// The pages in a real browser: nothing is fetched, nothing complains, every section is there and
// says what the JSON says, on small and large screens, light and dark, by pointer and by keyboard.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { Browser } from "./browser.mjs";
import { Pages } from "./pages.mjs";

const kSections = [
  "verdict",
  "cluster",
  "step",
  "memory",
  "timeline",
  "communication",
  "why-not",
  "worksheet",
];
const kAxe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const pages = new Pages();
let browser;
before(async () => {
  browser = await Browser.open();
});
after(async () => {
  await browser.close();
  pages.remove();
});

/** What a path like "plans.0.explain.words" names in a document. */
const at = (document, path) => path.split(".").reduce((part, key) => part[key], document);

async function quiet(page) {
  assert.deepEqual(page.complaints, [], "the console is silent");
  assert.deepEqual(page.requests, [], "nothing is fetched");
}

for (const name of Pages.names) {
  test(`${name}: small, and drawn within a second`, async () => {
    assert.ok(pages.size(name) < 1_500_000, `${pages.size(name)} bytes`);
    const page = await browser.page(pages.file(name));
    const drawn = await page.evaluate(() => performance.getEntriesByName("drawn")[0].startTime);
    assert.ok(drawn < 1000, `drawn after ${drawn} ms`);
    await quiet(page);
    await page.close();
  });

  for (const width of [360, 1440])
    for (const dark of [false, true])
      test(`${name}: ${width} px, ${dark ? "dark" : "light"}`, async () => {
        const page = await browser.page(pages.file(name), { width, dark });
        for (const id of kSections) {
          const section = page.locator(`section#${id}`);
          assert.equal(await section.count(), 1, id);
          assert.ok((await section.locator("h2").innerText()).length > 0, id);
          assert.ok((await section.boundingBox()).height > 40, `${id} shows something`);
        }
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `the page is ${wide} px wide`);
        await quiet(page);
        await page.close();
      });

  test(`${name}: every figure is the document's`, async () => {
    const page = await browser.page(pages.file(name));
    const document = await page.evaluate(() =>
      JSON.parse(window.document.getElementById("document").textContent),
    );
    const printed = pages.printed(name);
    // compare --json prints the comparison alone.
    if (name === "compare") assert.deepEqual(document.compare, printed);
    else assert.deepEqual(document.plans, printed.plans);
    const cited = await page.evaluate(() =>
      [...window.document.querySelectorAll("[data-path]")].map((e) => ({
        path: e.dataset.path,
        value: e.dataset.value,
      })),
    );
    assert.ok(cited.length > 100, `${cited.length} figures`);
    for (const { path, value } of cited)
      if (value !== undefined) assert.equal(value, String(at(document, path)), path);
    // What is read first stands there as the tool words it.
    const verdict = await page.locator("section#verdict").innerText();
    const { sentence, figures } = document.plans[0].verdict;
    for (const text of [sentence, ...figures.map((f) => f.text)])
      assert.ok(verdict.includes(text), text);
    await quiet(page);
    await page.close();
  });

  test(`${name}: fit for keyboards and screen readers`, async () => {
    for (const look of [{ width: 1440 }, { width: 360, dark: true }]) {
      const page = await browser.page(pages.file(name), look);
      await page.evaluate(kAxe);
      const found = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document, {
          runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
        });
        return violations.map((v) => `${v.id}: ${v.nodes[0].target} (${v.nodes.length})`);
      });
      assert.deepEqual(found, []);
      await page.close();
    }
  });
}
