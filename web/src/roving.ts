// Roving tabindex: one item of a set is the Tab stop, and arrow keys reach the others, so that a drawing
// with a hundred bars is one stop on the page.
import { useState } from "preact/hooks";

const kSteps: Record<string, number> = {
  ArrowDown: 1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowLeft: -1,
  Home: -Infinity,
  End: Infinity,
};

/** Returns the item that a key leads to from `current`; -1 for other keys. */
export function moved(current: number, key: string, count: number): number {
  const step = kSteps[key];
  return step === undefined ? -1 : Math.max(0, Math.min(count - 1, current + step));
}

export function useRoving(count: number) {
  const [at, setAt] = useState(0);
  const current = Math.min(at, count - 1);
  return {
    /** Attributes of the i-th item. */
    stop: (i: number) => ({ tabindex: i === current ? 0 : -1, "data-stop": i }),
    /** Attributes of the container. */
    list: {
      onKeyDown: (event: KeyboardEvent) => {
        const next = moved(current, event.key, count);
        if (next < 0) return;
        event.preventDefault();
        setAt(next);
        const held = event.currentTarget as Element;
        held.querySelector<HTMLElement>(`[data-stop="${next}"]`)?.focus();
      },
      onFocusIn: (event: FocusEvent) => {
        const stop = (event.target as Element).getAttribute("data-stop");
        if (stop !== null) setAt(Number(stop));
      },
    },
  };
}
