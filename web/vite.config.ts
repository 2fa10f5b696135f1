import { defineConfig } from "vite";
import { oneFile } from "./one_file";

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: "es2021",
    rollupOptions: { input: "report.html" },
    modulePreload: false,
    cssCodeSplit: false,
  },
  plugins: [oneFile()],
});
