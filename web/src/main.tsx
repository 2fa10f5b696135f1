import "./theme.css";
import { render } from "preact";
import { App } from "./app";
import type { Report } from "./document";
import "./print.css";

const page = document.getElementById("page")!;
const text = document.getElementById("document")!.textContent!;
page.replaceChildren();
render(<App report={JSON.parse(text) as Report} />, page);
// Drawings wait for their width and appear one frame later. Tests read the total time.
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("drawn")));
