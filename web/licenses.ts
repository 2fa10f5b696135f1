import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A library whose code is in the page. */
export interface Library {
  name: string;
  version: string;
  license: string; // SPDX identifier
  text: string; // of its license file
}

interface LockEntry {
  version: string;
  license?: string;
  dev?: boolean;
}

/** Returns the libraries of package-lock.json that are not development tools, by name. Throws if one has
 * no license file. */
export function libraries(root: string): Library[] {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  const found: Library[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === "" || entry.dev) continue;
    const file = readdirSync(join(root, path)).find((name) => /^licen[cs]e/i.test(name));
    if (!file || !entry.license) throw new Error(`${path} has no license`);
    found.push({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version: entry.version,
      license: entry.license,
      text: readFileSync(join(root, path, file), "utf8").replaceAll("\r\n", "\n").trim(),
    });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the library that a module of the bundle belongs to; undefined for modules of the page itself. */
export function libraryOf(module: string): string | undefined {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];
}

/** Returns all licenses as one HTML comment; a text shared by several libraries is written once. */
export function notices(all: Library[]): string {
  const byText = new Map<string, string[]>();
  for (const { name, version, license, text } of all)
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  const parts = [...byText].map(([text, names]) => `${names.join(", ")}\n\n${text}`);
  const said = `Libraries in this page, and their licenses:\n\n${parts.join("\n\n")}\n`;
  if (said.includes("--")) throw new Error("a license would end the comment that it is in");
  return `<!--\n${said}-->`;
}
