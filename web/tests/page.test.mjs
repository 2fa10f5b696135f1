// The pages in a real browser: they load nothing, report no errors, and every section matches the JSON,
// on small and large screens, light and dark, with pointer and keyboard.
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

/** Returns the document's form, without the page's non-breaking spaces. */
const plain = (text) => text.replaceAll("\u00a0", " ");

const kUnits = {
  "%": 0.01,
  ...{ ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, h: 3600, day: 86400, days: 86400 },
  ...{ B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15, EB: 1e18 },
  ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, EiB: 2 ** 60 },
};

/** Returns whether a text contains a quantity: three digits with a unit, or an error band in percent. */
function says(text, key, value) {
  const close = (said) => {
    if (said === 0 && key.startsWith("difference")) return Math.abs(value) < 1e-3;
    if (key === "within") return Math.abs(said - value) < 0.0051;
    if (key === "share") return Math.abs(said - value) < 0.00051;
    return Math.abs(said - value) <= 0.0051 * Math.abs(value);
  };
  if (key === "share" && plain(text) === "<0.1 %") return value > 0 && value < 0.0005;
  const said = plain(text).matchAll(/(-?[\d,]+(?:\.\d+)?(?:e\+\d+)?) ([a-zA-Z]+|%)/g);
  return [...said].some(([, n, unit]) => close(n.replaceAll(",", "") * kUnits[unit]));
}
const kQuantity = /(?:^|_)(?:seconds|bytes|bytes_per_second)$|^(?:share|within|difference|mfu)$/;

/** Returns the value at a path like "plans.0.explain.words" in a document. */
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

  test(`${name}: every figure equals the document's`, async () => {
    const page = await browser.page(pages.file(name));
    const document = await page.evaluate(() =>
      JSON.parse(window.document.getElementById("document").textContent),
    );
    const printed = pages.printed(name);
    // compare --json prints only the comparison.
    if (name === "compare") assert.deepEqual(document.compare, printed);
    else assert.deepEqual(document.plans, printed.plans);
    const cited = await page.evaluate(() =>
      [...window.document.querySelectorAll("[data-path]")].map((e) => ({
        path: e.dataset.path,
        value: e.dataset.value,
        text: e.textContent,
      })),
    );
    assert.ok(cited.length > 100, `${cited.length} figures`);
    for (const { path, value } of cited)
      if (value !== undefined) assert.equal(value, String(at(document, path)), path);
    const quantities = cited.filter(({ path }) => kQuantity.test(path.split(".").pop()));
    assert.ok(quantities.length > 40, `${quantities.length} quantities`);
    for (const { path, text } of quantities)
      if (text !== "")
        assert.ok(says(text, path.split(".").pop(), at(document, path)), `${path}: ${text}`);
    // The first sentences are the tool's own.
    const verdict = plain(await page.locator("section#verdict").innerText());
    const { sentence, figures } = document.plans[0].verdict;
    for (const text of [sentence, ...figures.map((f) => f.text)])
      assert.ok(verdict.includes(text), text);
    await quiet(page);
    await page.close();
  });

  test(`${name}: accessible by keyboard and screen reader`, async () => {
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
