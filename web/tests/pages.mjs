// The tested pages: the output of `rankwright report` for plans of the repository, as a page and as JSON.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const kRoot = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const kTool = process.env.RANKWRIGHT ?? join(kRoot, "build/release/bin/rankwright");

/** The name and the arguments of `rankwright`, with PAGE for the page's path. */
const kPages = {
  "course-64": ["report", "examples/course-64.yaml", "-o", "PAGE"],
  "llama-3.1-405b-16384": ["report", "examples/llama-3.1-405b-16384.yaml", "-o", "PAGE"],
  "deepseek-v3-2048": ["report", "examples/deepseek-v3-2048.yaml", "-o", "PAGE"],
  "a-million": ["report", "examples/million-five-levels.yaml", "--no-search", "-o", "PAGE"],
  compare: [
    "compare",
    "examples/course-64.yaml",
    "examples/course-64-chunks.yaml",
    "--html",
    "PAGE",
  ],
};

export class Pages {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "rankwright-pages-"));
    this.made = new Map();
  }

  static names = Object.keys(kPages);

  run(args, input) {
    return execFileSync(kTool, args, { cwd: kRoot, input, stdio: ["pipe", "pipe", "pipe"] });
  }

  /** Returns the path of the page with that name, created on first use. */
  file(name) {
    if (!this.made.has(name)) {
      const path = join(this.folder, `${name}.html`);
      this.run([...kPages[name].map((word) => (word === "PAGE" ? path : word)), "--quiet"]);
      this.made.set(name, path);
    }
    return this.made.get(name);
  }

  /** Creates a page with other arguments. */
  write(name, args, input) {
    const path = join(this.folder, `${name}.html`);
    writeFileSync(path, this.run([...args, "-o", "-", "--quiet"], input));
    return path;
  }

  /** Creates a page of a plan with a trace of its step: the simulated one, which is sufficient here. */
  measured(plan) {
    const trace = join(this.folder, "step.json");
    this.run(["explain", plan, "--timeline", "--trace", trace]);
    return this.write("measured", ["report", plan, "--no-search", "--measured", trace]);
  }

  /** Returns the output of `rankwright report --json` for the same plan. */
  printed(name) {
    const args = kPages[name].filter((word) => !["-o", "--html", "PAGE"].includes(word));
    return JSON.parse(this.run([...args, "--json"]).toString());
  }

  size(name) {
    return readFileSync(this.file(name)).length;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
