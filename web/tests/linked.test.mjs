// Highlighting across sections, comparisons that show either plan, a run drawn below its prediction,
// printing, and names that stay text. drawings.test.mjs tests single drawings.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser } from "./browser.mjs";
import { Pages } from "./pages.mjs";

const pages = new Pages();
let browser;
before(async () => {
  browser = await Browser.open();
});
after(async () => {
  await browser.close();
  pages.remove();
});

const documentOf = (page) =>
  page.evaluate(() => JSON.parse(document.getElementById("document").textContent));

/** Runs `look` on a page, then checks that the browser reported no errors. */
const on = (name, title, look, how = {}) =>
  test(`${name}: ${title}`, async () => {
    const page = await browser.page(how.file?.() ?? pages.file(name), how);
    await look(page);
    assert.deepEqual(page.complaints, []);
    assert.deepEqual(page.requests, []);
    await page.close();
  });

on("course-64", "pointing at a rank highlights its groups, links, row and collectives", async (page) => {
  const [plan] = (await documentOf(page)).plans;
  const rank = 19; // tp 3, dp 0, pp 1
  await page.locator("#cluster .seat").nth(rank).hover();
  // Its tp group has 8 ranks, its pp group 4, its dp group 2, each including itself: 8 + 3 + 1.
  assert.equal(await page.locator("#cluster .seat.lit").count(), 12);
  assert.match(await page.locator("#cluster .cluster-panel:not(.sample)").innerText(), /rank 19\b/);
  assert.ok((await page.locator("#cluster .strands path").count()) > 0, "links thicken");
  assert.equal(await page.locator("#timeline .lane.lit").count(), 1);
  assert.match(await page.locator("#timeline .lane.lit .name").textContent(), /1$/);
  // A middle stage has two tp collectives per layer and one for norms, two of pp, one of dp; no embedding,
  // head or loss. Collectives of all ranks have no group to highlight.
  const grouped = plan.ranks.groups.flatMap((g) => g.collectives);
  const called = plan.ranks.devices[rank].collectives.filter((c) => grouped.includes(c));
  assert.equal(called.length, 6);
  assert.equal(await page.locator("#communication tbody .lit").count(), 6);
});

on("deepseek-v3-2048", "memory, timeline and cluster are highlighted together", async (page) => {
  const bar = page.locator("#memory .bar-row:not(.axis)").nth(15);
  await bar.hover();
  assert.equal(await page.locator("#memory .bar-row.lit").count(), 1);
  assert.equal(await page.locator("#timeline .lane.lit").count(), 1);
  assert.equal(await page.locator("#cluster .seat.lit").count(), 8);
});

on("deepseek-v3-2048", "an item of the step highlights the collectives it waits for", async (page) => {
  const [plan] = (await documentOf(page)).plans;
  const items = plan.explain.estimate.step.items;
  const item = items.findIndex((i) => i.item === "EP all-to-all");
  await page.locator("#step .bar-row:not(.axis)").nth(item).hover();
  assert.equal(
    await page.locator("#communication tbody .lit").count(),
    items[item].collectives.length,
  );
});

on("course-64", "64 ranks are one Tab stop", async (page) => {
  await page.locator("#cluster .seat").first().focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#cluster .seat.lit").count(), 12, "as with the pointer");
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.activeElement.closest(".seat") === null));
});

on("deepseek-v3-2048", "a wheel scrolls the page", async (page) => {
  const plot = page.locator("#timeline .timeline-plot");
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const top = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, 120);
  await page.waitForFunction((y) => scrollY > y, top);
});

on("llama-3.1-405b-16384", "colors follow the selected group", async (page) => {
  const fill = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("#cluster .seat rect")].slice(0, 16).map(
        (r) => getComputedStyle(r).fill,
      ),
    );
  const choose = (kind) =>
    page.locator("#cluster .cluster-choice").getByText(kind, { exact: true }).click();
  await choose("tp");
  const byTensor = await fill();
  assert.equal(new Set(byTensor.slice(0, 8)).size, 1, "a tensor group is one colour");
  await choose("dp");
  assert.equal(new Set((await fill()).slice(0, 8)).size, 8, "its ranks have other replicas each");
});

on("compare", "items without time have no bar, and B is visible on a phone", async (page) => {
  const { compare } = await documentOf(page);
  const times = compare.time.items.flatMap((item) => [item.a_seconds, item.b_seconds]);
  const bars = page.locator("#compare .pairs").first().locator(".bar");
  assert.equal(await bars.count(), times.filter((seconds) => seconds > 0).length);
  await page.setViewportSize({ width: 360, height: 780 });
  const b = await page.locator("#compare th.side").nth(1).boundingBox();
  assert.ok(b.x + b.width <= 360, `B ends at ${b.x + b.width}`);
});

on("compare", "a switch selects the plan shown below", async (page) => {
  const { plans } = await documentOf(page);
  const verdict = page.locator("#verdict");
  const text = async () => (await verdict.innerText()).replaceAll("\u00a0", " ");
  assert.ok((await text()).includes(plans[0].verdict.figures[0].text));
  await page.getByRole("radio").nth(1).check();
  assert.ok((await text()).includes(plans[1].verdict.figures[0].text));
});

on(
  "measured",
  "a run is drawn below the prediction",
  async (page) => {
    const [plan] = (await documentOf(page)).plans;
    const rows = plan.timeline.rows.length + plan.measured.rows.length;
    assert.equal(await page.locator("#timeline .lane").count(), rows);
    const words = (await page.locator("#timeline").innerText()).replaceAll("\u00a0", " ");
    assert.ok(words.includes(plan.measured.words));
    assert.ok(words.includes("step.json: ") && !words.includes(plan.measured.name), words);
    const box = await page.locator("#timeline .run").boundingBox();
    assert.ok(box.x + box.width <= 360 && box.height > 30, "it wraps");
  },
  { width: 360, file: () => pages.measured("examples/gpt2-tiny-tp2-pp2-dp2.yaml") },
);

// Any name stays text.
const kHostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>`;
on(
  "hostile",
  "a model's name cannot become a script",
  async (page) => {
    assert.ok((await page.locator("body").innerText()).includes("<img src=x"));
    assert.equal(await page.locator("img").count(), 0);
  },
  {
    file: () =>
      pages.write(
        "hostile",
        ["report", "-", "--no-search"],
        JSON.stringify({
          world_size: 8,
          parallelism: { tp_size: 8 },
          model: {
            name: kHostile,
            architecture: "llama",
            layers: 4,
            hidden: 512,
            heads: 8,
            ffn: 1024,
            vocab: 1000,
          },
        }),
      ),
  },
);

on("course-64", "printing shows every section unfolded", async (page) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("details:not([open])").count(), 0);
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.ok(["rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"].includes(ground), ground);
});
