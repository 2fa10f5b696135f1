// node fill.mjs DOCUMENT.json PAGE.html: inserts a document into dist/report.html as the tool does, to
// view the built page without the tool.
import { readFileSync, writeFileSync } from "node:fs";

const [document, page] = process.argv.slice(2);
const text = JSON.stringify(JSON.parse(readFileSync(document, "utf8"))).replaceAll("<", "\\u003c");
const built = readFileSync(new URL("dist/report.html", import.meta.url), "utf8");
writeFileSync(
  page,
  built.replace("RANKWRIGHT_DOCUMENT", () => text),
);
