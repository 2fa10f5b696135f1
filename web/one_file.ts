import { createHash } from "node:crypto";
import type { Plugin } from "vite";
import { libraries, libraryOf, notices } from "./licenses";

/** Inlines script and style into the page, so that it is one file, with a content security policy that
 * allows only these by their hashes, so that no text of a document can become a script. Adds the
 * licenses of the libraries as a comment at the end. */
export function oneFile(): Plugin {
  const carried = libraries(process.cwd());
  const checkCarried = (module: string) => {
    const library = libraryOf(module);
    if (library && !carried.some(({ name }) => name === library))
      throw new Error(`${library} is in the page, and not in the dependencies of package.json`);
  };
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
        if (part.type === "chunk") {
          script += part.code;
          for (const module of Object.keys(part.modules)) checkCarried(module);
        }
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
        .replace("</body>", () => `<script type="module">${script}</script>\n</body>`)
        .replace("</html>", () => `${notices(carried)}\n</html>`);
    },
  };
}

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
