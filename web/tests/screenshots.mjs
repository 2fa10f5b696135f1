// Takes the screenshots of the page for the documents:
//     node web/tests/screenshots.mjs docs/reference/report
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";
import { Pages } from "./pages.mjs";

/** File, page and look; optionally a single section and the focused element. */
const kShots = [
  { file: "verdict", page: "llama-3.1-70b", height: 900 },
  {
    file: "verdict-and-cluster",
    page: "llama-3.1-70b",
    section: "cluster",
    hover: "#cluster .seat >> nth=19",
  },
  { file: "step", page: "deepseek-v3-2048", section: "step" },
  { file: "memory", page: "deepseek-v3-2048", section: "memory" },
  { file: "cluster-folded", page: "llama-3.1-405b-16384", section: "cluster", dark: true },
  { file: "timeline", page: "llama-3.1-405b-16384", section: "timeline", dark: true },
  { file: "communication", page: "deepseek-v3-2048", section: "communication" },
  { file: "why-not", page: "deepseek-v3-2048", section: "why-not" },
  { file: "phone", page: "deepseek-v3-2048", width: 360, height: 780, dark: true },
  { file: "compare", page: "compare", height: 1080 },
];

const folder = process.argv[2];
if (!folder) {
  console.error("usage: node web/tests/screenshots.mjs FOLDER");
  process.exit(64);
}
mkdirSync(folder, { recursive: true });
const pages = new Pages();
const browser = await Browser.open();
for (const { file, page: name, section, hover, ...look } of kShots) {
  const page = await browser.page(pages.file(name), look);
  if (hover) await page.locator(hover).hover();
  const part = section ? page.locator(`section#${section}`) : page;
  await part.screenshot({ path: join(folder, `${file}.png`) });
  await page.close();
}
await browser.close();
pages.remove();
