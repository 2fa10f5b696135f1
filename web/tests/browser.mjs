// A real browser that opens pages from files and can load nothing else. Requests and console messages of
// a page are recorded.
import { chromium } from "playwright-core";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const kFlags = [
  "--no-sandbox", // tests run as root
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export class Browser {
  static async open() {
    const folder = mkdtempSync(join(tmpdir(), "rankwright-browser-"));
    const context = await chromium.launchPersistentContext(folder, {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      headless: true,
      args: kFlags,
    });
    return new Browser(context, folder);
  }

  constructor(context, folder) {
    this.context = context;
    this.folder = folder;
  }

  /** Opens a file; `look` is { width, height, dark, drawn }. `drawn` is false for files that are not
   *  reports, which do not signal when they are drawn. */
  async page(file, look = {}) {
    const page = await this.context.newPage();
    await page.setViewportSize({ width: look.width ?? 1440, height: look.height ?? 900 });
    await page.emulateMedia({ colorScheme: look.dark ? "dark" : "light", reducedMotion: "reduce" });
    page.complaints = [];
    page.requests = [];
    const url = pathToFileURL(file).href;
    page.on("console", (m) => {
      if (["error", "warning"].includes(m.type())) page.complaints.push(m.text());
    });
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.on("dialog", (dialog) => {
      page.complaints.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("request", (request) => {
      if (request.url() !== url && !request.url().startsWith("data:"))
        page.requests.push(request.url());
    });
    await page.goto(url, { waitUntil: "load" });
    if (look.drawn ?? true)
      await page.waitForFunction(() => performance.getEntriesByName("drawn").length > 0);
    return page;
  }

  async close() {
    await this.context.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
