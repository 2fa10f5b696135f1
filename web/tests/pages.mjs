// The tested pages: the output of `rankwright report` for plans of the repository, as a page and as JSON.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const kRoot = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const kTool = process.env.RANKWRIGHT ?? join(kRoot, "build/release/bin/rankwright");

const plan70b = (degrees) =>
  `{world_size: 64, model: llama-3.1-70b, cluster: dgx-h100 x 8, parallelism: {${degrees}, ` +
  `zero_stage: 1, sequence_parallel: true}, job: {global_batch: 512, sequence: 8192}, ` +
  `software: {framework: megatron-core, target: megatron}}`;

/** Plans that are not files: one that is slower than others, one that needs more memory than there is, and
 * one for which no layout fits. */
const kInputs = {
  "llama-3.1-70b": plan70b("tp_size: 8, pp_size: 4, dp_size: 2"),
  "does-not-fit": plan70b("tp_size: 4, pp_size: 2, dp_size: 8"),
  "nothing-fits":
    "{world_size: 8, parallelism: {tp_size: 8}, model: llama-3.1-405b, cluster: dgx-h100 x 1, " +
    "job: {global_batch: 512, sequence: 8192}, software: {framework: megatron-core, target: megatron}}",
};

/** The name and the arguments of `rankwright`, with PAGE for the page's path. */
const kPages = {
  "course-64": ["report", "examples/course-64.yaml", "-o", "PAGE"],
  "llama-3.1-405b-16384": ["report", "examples/llama-3.1-405b-16384.yaml", "-o", "PAGE"],
  "deepseek-v3-2048": ["report", "examples/deepseek-v3-2048.yaml", "-o", "PAGE"],
  "a-million": ["report", "examples/million-five-levels.yaml", "--no-search", "-o", "PAGE"],
  ...Object.fromEntries(
    Object.keys(kInputs).map((name) => [name, ["report", "-", "-o", "PAGE"]]),
  ),
  compare: [
    "compare",
    "examples/course-64.yaml",
    "examples/course-64-chunks.yaml",
    "--html",
    "PAGE",
  ],
};

const kRefused = 2; // exit code of a plan with errors; its page is written

export class Pages {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "rankwright-pages-"));
    this.made = new Map();
  }

  static names = Object.keys(kPages);

  run(args, input) {
    try {
      return execFileSync(kTool, args, { cwd: kRoot, input, stdio: ["pipe", "pipe", "pipe"] });
    } catch (failed) {
      if (failed.status === kRefused) return failed.stdout;
      throw failed;
    }
  }

  /** Returns the path of the page with that name, created on first use. */
  file(name) {
    if (!this.made.has(name)) {
      const path = join(this.folder, `${name}.html`);
      const args = kPages[name].map((word) => (word === "PAGE" ? path : word));
      this.run([...args, "--quiet"], kInputs[name]);
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
    return JSON.parse(this.run([...args, "--json"], kInputs[name]).toString());
  }

  size(name) {
    return readFileSync(this.file(name)).length;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
