import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/** Puts script and style into the page, so that it is one file, and allows by their hashes that
 * these run and nothing else: whatever a document says, it cannot become a script. */
export function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["report.html"];
      if (page?.type !== "asset") throw new Error("no report.html");
      let script = "";
      let style = "";
      for (const [name, part] of Object.entries(bundle)) {
        if (part === page) continue;
        if (part.type === "chunk") script += part.code;
        else if (name.endsWith(".css")) style += part.source;
        else throw new Error(`${name} would be a second file`);
        delete bundle[name];
      }
      script = script.replaceAll("</script", "<\\/script");
      page.source = String(page.source)
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace("HASH_OF_SCRIPT", hash(script))
        .replace("HASH_OF_STYLE", hash(style))
        .replace("</head>", () => `<style>${style}</style>\n</head>`)
        .replace("</body>", () => `<script type="module">${script}</script>\n</body>`);
    },
  };
}

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
