import { useEffect, useState } from "preact/hooks";

/** A button that copies `text` to the clipboard. `what` names it for screen readers. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      class="copy"
      aria-label={`Copy ${what}`}
      onClick={() => write(text).then(setCopied)}
    >
      <span aria-live="polite">{copied ? "Copied" : "Copy"}</span>
    </button>
  );
}

/** A command with a button that copies it. */
export function Command({ command }: { command: string }) {
  return (
    <p class="command-line">
      <code tabIndex={0}>{command}</code>
      <Copy text={command} what="the command" />
    </p>
  );
}

/** Copies through a selection, for browsers that deny the clipboard to local files. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    // Outside an open dialog nothing can be selected.
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
