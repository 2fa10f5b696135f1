// What a reader sees: no label is clipped or covers another, every mark and label stands out, in light and
// dark, on a phone and on paper. Selections are kept in the URL and reachable with the keyboard.
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

const kLooks = {
  light: { width: 1440 },
  dark: { width: 1440, dark: true },
  phone: { width: 360, height: 780 },
  print: { width: 700, height: 1000, print: true },
};

async function open(name, look) {
  const page = await browser.page(pages.file(name), look);
  if (look.print) {
    await page.emulateMedia({ media: "print", colorScheme: "light" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    // Drawings follow the width of the paper one frame later.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))));
  }
  return page;
}

/** Returns the labels of drawings that are clipped or cover another; runs in the page. */
function misplacedLabels() {
  const kSlack = 1; // pixels: boxes of text include some space
  const visible = (e) => {
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(e).visibility === "visible";
  };
  const boxOf = (e) => {
    const { left, right, top, bottom } = e.getBoundingClientRect();
    // A line is higher than its letters.
    const spare = (bottom - top) * 0.15;
    return { left, right, top: top + spare, bottom: bottom - spare, text: e.textContent.trim() };
  };
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > kSlack &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > kSlack;
  const faults = [];
  const check = (where, labels, frame) => {
    for (const label of labels)
      if (label.left < frame.left - kSlack || label.right > frame.right + kSlack)
        faults.push(`${where}: '${label.text}' is clipped`);
    labels.forEach((a, i) => {
      for (const b of labels.slice(i + 1))
        if (overlap(a, b)) faults.push(`${where}: '${a.text}' covers '${b.text}'`);
    });
  };
  const whole = { left: 0, right: document.documentElement.clientWidth };
  for (const svg of document.querySelectorAll("section svg")) {
    const where = svg.closest("section").id;
    const labels = [...svg.querySelectorAll("text")].filter((e) => e.textContent.trim() && visible(e));
    check(where, labels.map(boxOf), whole);
  }
  for (const bars of document.querySelectorAll(".bars")) {
    const labels = [...bars.querySelectorAll(".axis .tick > span")].filter(visible);
    check(bars.closest("section").id, labels.map(boxOf), bars.getBoundingClientRect());
    for (const row of bars.querySelectorAll(".bar-row:not(.axis)")) {
      const cells = [...row.children].filter((e) => e.textContent.trim() && visible(e));
      const texts = cells.filter((e) => !e.classList.contains("track"));
      check(bars.closest("section").id, texts.map(boxOf), bars.getBoundingClientRect());
    }
  }
  return faults;
}

/** Returns marks and labels of drawings with too little contrast; runs in the page. */
function faintMarks() {
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const linear = (c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) =>
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05;
  const contrast = (a, b) => {
    const [x, y] = [luminance(parse(a)), luminance(parse(b))];
    return Math.max(x, y) / Math.min(x, y);
  };
  const print = matchMedia("print").matches;
  const ground = print ? "rgb(255, 255, 255)" : getComputedStyle(document.body).backgroundColor;
  const faults = [];
  const expectContrast = (what, color, least) => {
    if (!color.startsWith("rgb") || parse(color)[3] === 0) return; // not drawn
    const found = contrast(color, ground);
    if (found < least) faults.push(`${what}: ${color} has ${found.toFixed(2)} : 1`);
  };
  const style = (e) => getComputedStyle(e);
  for (const e of document.querySelectorAll("section svg text:not(.number)"))
    if (!e.closest(".seat") && e.textContent.trim())
      expectContrast(`text '${e.textContent}'`, style(e).fill, 4.5);
  for (const e of document.querySelectorAll(".falls .bar:not(.waits):not(.whole), .stages .bar, .pairs .bar"))
    expectContrast(`bar .${e.className}`, style(e).backgroundColor, 3);
  for (const e of document.querySelectorAll(".legend .swatch:not(.idle):not(.waits), .memory-key"))
    expectContrast(`key '${e.parentElement.textContent}'`, style(e).backgroundColor, 3);
  for (const e of document.querySelectorAll(".scatter .plan .shape"))
    expectContrast(
      `plan ${e.closest(".plan").getAttribute("class")}`,
      e.closest(".misfit") ? style(e).stroke : style(e).fill,
      3,
    );
  for (const e of document.querySelectorAll(".seat > rect:first-child"))
    expectContrast("device", style(e).stroke, 3);
  return [...new Set(faults)];
}

for (const name of Pages.names)
  for (const [look, how] of Object.entries(kLooks))
    test(`${name}, ${look}: every label and mark can be read`, async () => {
      const page = await open(name, how);
      assert.deepEqual(await page.evaluate(misplacedLabels), []);
      assert.deepEqual(await page.evaluate(faintMarks), []);
      assert.deepEqual(page.complaints, []);
      await page.close();
    });

for (const name of ["does-not-fit", "compare"])
  test(`${name}: paper has no controls, and lines end with their rows`, async () => {
    const page = await open(name, kLooks.print);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= kLooks.print.width, `${wide} px`);
    for (const control of ["button:not(.open)", "input", "nav", ".tooltip"])
      assert.equal(await page.locator(`${control}:visible`).count(), 0, control);
    const beyond = await page.evaluate(() =>
      [...document.querySelectorAll(".gridlines i")].filter(
        (line) =>
          line.getBoundingClientRect().bottom >
          line.closest(".bars").getBoundingClientRect().bottom + 1,
      ).length,
    );
    assert.equal(beyond, 0, "lines beyond their rows");
    const split = await page.evaluate(() =>
      [".bars", ".advice", ".scatter", ".timeline-plot", ".cluster-map"].filter((part) => {
        const found = document.querySelector(part);
        return found && getComputedStyle(found).breakInside !== "avoid";
      }),
    );
    assert.deepEqual(split, [], "drawings that may be split over two pages");
    await page.close();
  });

// ---- the first screen -----------------------------------------------------------------------

const documentOf = (page) =>
  page.evaluate(() => JSON.parse(document.getElementById("document").textContent).plans[0]);

test("the card has the changed keys, the gain and the command", async () => {
  const page = await open("llama-3.1-70b", kLooks.light);
  const { advice, verdict } = await documentOf(page);
  assert.equal(advice.kind, "change");
  assert.ok(advice.changes.length > 0 && advice.gains.length >= 3);
  const card = await page.locator(".advice").innerText();
  assert.match(card, /TP\s+8 → 4/);
  assert.ok(card.includes(advice.command) && card.includes(advice.runs), card);
  assert.equal(verdict.figures[0].name, "step");
  await page.close();
});

test("a plan that does not fit leads with its memory", async () => {
  const page = await open("does-not-fit", kLooks.light);
  assert.match(await page.locator(".sentence").innerText(), /does not fit/);
  assert.equal(await page.locator(".figures dt").first().innerText(), "memory");
  assert.equal((await documentOf(page)).advice.kind, "change");
  await page.close();
});

test("if nothing fits, the page says how many GPUs would be enough", async () => {
  const page = await open("nothing-fits", kLooks.light);
  const { advice } = await documentOf(page);
  assert.equal(advice.kind, "grow");
  assert.match(await page.locator(".advice").innerText(), /GPUs are enough/);
  assert.match(advice.command, /--cluster "dgx-h100 x \d+"/);
  await page.close();
});

// ---- selections -----------------------------------------------------------------------------

const hashOf = (page) => page.evaluate(() => location.hash);
const seat = (page, n) => page.locator("#cluster .seat").nth(n);

test("a click pins a rank, the URL keeps it, and Escape releases it", async () => {
  const page = await open("course-64", kLooks.light);
  await seat(page, 19).click();
  await page.mouse.move(0, 0);
  assert.equal(await page.locator("#cluster .seat.lit").count(), 12);
  assert.equal(await hashOf(page), "#on=device:19");
  assert.match(await page.locator(".pinned").innerText(), /rank 19/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#cluster .seat.lit").count(), 0);
  assert.equal(await hashOf(page), "");
  await page.close();
});

test("a URL opens with its selection", async () => {
  const page = await open("course-64", kLooks.light);
  const url = page.url();
  await page.goto(`${url}#on=pp:2&t=1-2`);
  await page.reload();
  await page.waitForFunction(() => performance.getEntriesByName("drawn").length > 0);
  assert.equal(await page.locator("#memory .bar-row.lit .name").innerText(), "pp 2");
  assert.match(await page.locator(".timeline-totals").innerText(), /1\ss to 2\ss/);
  await page.close();
});

test("an opened alternative is in the URL", async () => {
  const page = await open("llama-3.1-70b", kLooks.light);
  await page.locator("#why-not .open").nth(1).click();
  assert.equal(await hashOf(page), "#open=1");
  await page.reload();
  assert.equal(await page.locator("dialog[open]").count(), 1);
  await page.keyboard.press("Escape");
  assert.equal(await hashOf(page), "");
  await page.close();
});

test("the keyboard pins rows of the step, of memory and of communication", async () => {
  const page = await open("course-64", kLooks.light);
  for (const [row, hash] of [
    ["#step .bar-row[data-stop='0']", "#on=step:0"],
    ["#memory .bar-row[data-stop='1']", "#on=pp:1"],
    ["#communication tbody tr[data-stop='0']", "#on=call:0"],
  ]) {
    await page.locator(row).focus();
    await page.keyboard.press("Enter");
    assert.equal(await hashOf(page), hash);
    await page.keyboard.press("Enter");
    assert.equal(await hashOf(page), "", "again releases it");
  }
  await page.close();
});

test("pointing at ranks moves nothing on the page", async () => {
  const page = await open("deepseek-v3-2048", kLooks.light);
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  const before = await height();
  for (const n of [0, 9, 40, 120, 127]) {
    await seat(page, n).hover();
    assert.equal(await height(), before, `rank at ${n}`);
  }
  await page.close();
});

test("a group without calls on a pp rank says so", async () => {
  const page = await open("deepseek-v3-2048", kLooks.light);
  const words = await page.locator(".cluster-panel:not(.sample)").innerText();
  assert.match(words, /ep of 64[^]*PP rank 0 calls none: EP all-to-all/);
  await page.close();
});

test("the timeline finds cells and sums up what is in view", async () => {
  const page = await open("course-64", kLooks.light);
  await page.getByRole("searchbox").fill("micro-batch 3");
  assert.match(await page.locator(".timeline-search output").innerText(), /^8 matches$/);
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".timeline-search output").innerText(), /^1 of 8 matches$/);
  assert.match(await page.locator(".timeline-totals").innerText(), /^Whole step[^]*idle \d/);
  assert.match(await page.locator(".memory-over-time figcaption").innerText(), /^Memory of PP rank 0/);
  await page.close();
});
