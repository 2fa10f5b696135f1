// Pointer and keyboard in the drawings: the cluster, the timeline, the alternative plans.
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

async function open(name, look) {
  const page = await browser.page(pages.file(name), look);
  const text = await page.locator("#document").textContent();
  return { page, plan: JSON.parse(text).plans[0] };
}

async function done(page) {
  assert.deepEqual(page.complaints, []);
  await page.close();
}

test("a device highlights only its groups", async () => {
  const { page, plan } = await open("course-64");
  const seats = page.locator(".seat");
  assert.equal(await seats.count(), 64);
  await seats.nth(17).hover();
  const lit = await page.locator(".seat.lit").count();
  const sharing = plan.ranks.devices.filter((_, other) =>
    plan.ranks.groups.some((g) => g.of_device[other] === g.of_device[17]),
  );
  assert.equal(lit, sharing.length);
  assert.equal(await page.locator(".strands path").count(), plan.ranks.groups.length);
  assert.match(await page.locator(".cluster-panel:not(.sample)").innerText(), /^rank 17/);
  await page.mouse.move(0, 0);
  assert.equal(await page.locator(".seat.lit").count(), 0);
  await done(page);
});

test("arrow keys move through the devices, which are one Tab stop", async () => {
  const { page } = await open("course-64");
  assert.equal(await page.locator(".seat[tabindex='0']").count(), 1);
  await page.locator(".seat[tabindex='0']").focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "End"])
    await page.keyboard.press(key);
  const label = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.match(label, /^rank 63, node 7, slot 7, tp 7, pp 3, dp 1/);
  await done(page);
});

test("a folded box shows how many it represents", async () => {
  const { page } = await open("llama-3.1-405b-16384");
  assert.equal(await page.locator(".badge text").first().textContent(), "× 128");
  assert.match(await page.locator(".seat").first().getAttribute("aria-label"), /128 devices alike/);
  await done(page);
});

const axis = (page) => page.locator(".time-axis text").allTextContents();

test("the timeline zooms with ctrl and the wheel; the wheel alone scrolls the page", async () => {
  const { page } = await open("course-64");
  await page.locator(".timeline-plot").scrollIntoViewIfNeeded();
  const box = await page.locator(".timeline-plot").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  const whole = await axis(page);
  await page.mouse.wheel(0, 40);
  assert.deepEqual(await axis(page), whole);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await page.waitForFunction(
    (old) => old !== document.querySelector(".time-axis").textContent,
    whole.join(""),
  );
  await page.getByRole("button", { name: "Whole step" }).click();
  assert.deepEqual(await axis(page), whole);
  await done(page);
});

test("the keyboard zooms and pans the timeline and names its cells", async () => {
  const { page } = await open("course-64");
  await page.locator(".timeline-plot").focus();
  const whole = await axis(page);
  await page.keyboard.press("+");
  const closer = await axis(page);
  assert.notDeepEqual(closer, whole);
  await page.keyboard.press("ArrowRight");
  assert.notDeepEqual(await axis(page), closer);
  await page.keyboard.press("0");
  assert.deepEqual(await axis(page), whole);
  for (const key of [".", "."]) await page.keyboard.press(key);
  const said = await page.locator(".timeline-plot [aria-live]").textContent();
  assert.match(said, /^PP rank 0, kind forward, micro-batch 1, stage 0, begins /);
  assert.equal(await page.locator(".seat.lit").count(), 16, "pp rank 0 of pp 4 on 64 devices");
  await done(page);
});

test("the critical path can be hidden", async () => {
  const { page } = await open("course-64");
  assert.equal(await page.locator(".critical-path").count(), 1);
  await page.getByRole("checkbox", { name: "critical path" }).uncheck();
  assert.equal(await page.locator(".critical-path").count(), 0);
  await done(page);
});

test("an alternative plan opens with its file and closes with Escape", async () => {
  const { page, plan } = await open("deepseek-v3-2048");
  const { points } = plan.why_not;
  assert.equal(await page.locator(".scatter .plan").count(), points.length);
  const best = points.findIndex((point) => point.role === "best");
  await page.locator(`.scatter [data-stop="${best}"]`).focus();
  await page.keyboard.press("Enter");
  const dialog = page.locator("dialog[open]");
  assert.equal(await dialog.locator("pre").textContent(), points[best].file);
  assert.match(await dialog.innerText(), /rankwright compare examples\/deepseek-v3-2048\.yaml/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
  await done(page);
});

test("another value of a setting shows its cost, and the URL keeps it", async () => {
  const { page, plan } = await open("deepseek-v3-2048");
  const setting = plan.what_if.findIndex((one) => one.key === "tp");
  const rows = plan.what_if[setting].rows;
  const other = rows.findIndex((row) => !row.own && !row.impossible);
  const radios = page.locator(".what-if fieldset").nth(setting).getByRole("radio");
  assert.equal(await radios.count(), rows.length);
  assert.ok(await radios.nth(rows.findIndex((row) => row.own)).isChecked());
  await radios.nth(other).check({ force: true });
  const path = `plans.0.what_if.${setting}.rows.${other}.step_seconds`;
  assert.equal(await page.locator(`.tried [data-path="${path}"]`).count(), 1);
  assert.match(page.url(), new RegExp(`try=tp:${rows[other].value}`));
  const impossible = rows.findIndex((row) => row.impossible);
  if (impossible >= 0) {
    await radios.nth(impossible).check({ force: true });
    assert.ok((await page.locator(".tried").innerText()).includes("is not possible"));
  }
  await radios.nth(rows.findIndex((row) => row.own)).check({ force: true });
  assert.equal((await page.locator(".tried").innerText()).trim(), "");
  await done(page);
});

test("without a search the page says what to type", async () => {
  const { page, plan } = await open("course-64");
  assert.equal(plan.why_not, null);
  assert.ok((await page.locator("#why-not").innerText()).includes(plan.why_not_missing));
  await done(page);
});

test("plans and bars of a tiny model on a large device are distinguishable", async () => {
  const file = pages.write("tiny", ["report", "examples/gpt2-tiny-tp2-pp2-dp2.yaml"]);
  const page = await browser.page(file);
  const axis = await page.locator(".scatter .axes text").allTextContents();
  assert.equal(new Set(axis).size, axis.length, axis.join(", "));
  const track = page.locator("#memory .bar-row:not(.axis) .track").first();
  const whole = await track.boundingBox();
  const last = await track.locator(".bar").last().boundingBox();
  assert.ok(last.x + last.width > whole.x + whole.width / 2, "the bars fill the drawing");
  const limit = await page.locator("#memory .limit").innerText();
  assert.match(limit, /has 3\.73\sGiB, far to the right/);
  await done(page);
});

test("the columns of the step do not overlap", async () => {
  const { page } = await open("deepseek-v3-2048");
  for (const row of await page.locator("#step .bar-row:not(.axis)").all()) {
    const cells = await row.locator("> span").evaluateAll((all) =>
      all.map((e) => {
        const range = document.createRange();
        range.selectNodeContents(e);
        const { left, right } = range.getBoundingClientRect();
        return [left, right];
      }),
    );
    const [time, share, remark] = cells.slice(2);
    assert.ok(time[1] <= share[0] && share[1] <= remark[0], String(cells));
  }
  await done(page);
});
