// One tooltip for the whole page. It stands beside what it is about, never on it, comes with the
// keyboard's focus as with the pointer, and goes with Escape. It repeats what the aria-label of the
// thing says, so readers of the screen are not told of it.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Focus, nothing } from "./focus";

/** An element, or a part of a drawing that has none of its own. */
export interface Anchor {
  getBoundingClientRect(): DOMRect;
}
interface Tip {
  anchor: Anchor;
  words: ComponentChildren;
}

let show: (tip: Tip | null) => void = () => {};

export const showTip = (anchor: Anchor, words: ComponentChildren) => show({ anchor, words });
export const hideTip = () => show(null);

/** Handlers of a thing that lights up others, and of which the tooltip says more. */
export function pointing(
  point: (focus: Focus) => void,
  focus: Focus,
  words?: () => ComponentChildren,
) {
  const on = (event: Event) => {
    point(focus);
    if (words) showTip(event.currentTarget as Element, words());
  };
  const off = () => {
    point(nothing);
    hideTip();
  };
  return { onPointerEnter: on, onPointerLeave: off, onFocus: on, onBlur: off };
}

const kGap = 8; // pixels between the tooltip and its anchor, and the edge of the window

export function Tooltip() {
  const [tip, setTip] = useState<Tip | null>(null);
  const box = useRef<HTMLDivElement>(null);
  show = setTip;

  useEffect(() => {
    const escape = (event: KeyboardEvent) => event.key === "Escape" && setTip(null);
    const scroll = () => setTip(null);
    addEventListener("keydown", escape);
    addEventListener("scroll", scroll, { passive: true });
    return () => {
      removeEventListener("keydown", escape);
      removeEventListener("scroll", scroll);
    };
  }, []);

  useLayoutEffect(() => {
    if (!tip || !box.current) return;
    const about = tip.anchor.getBoundingClientRect();
    const own = box.current.getBoundingClientRect();
    const { left, top } = place(about, own, document.documentElement.clientWidth, innerHeight);
    box.current.style.left = `${left}px`;
    box.current.style.top = `${top}px`;
  }, [tip]);

  return (
    <div class="tooltip" ref={box} aria-hidden="true" hidden={!tip}>
      {tip?.words}
    </div>
  );
}

interface Size {
  width: number;
  height: number;
}
interface Box extends Size {
  left: number;
  top: number;
}

/** Above the anchor where there is room, else where there is more; inside the window from left to
 * right. */
export function place(about: Box, own: Size, width: number, height: number) {
  const above = about.top - kGap;
  const below = about.top + about.height + kGap;
  const fits = above - own.height >= kGap || above > height - below;
  const centred = about.left + about.width / 2 - own.width / 2;
  const rightmost = width - own.width - kGap;
  return {
    left: Math.max(kGap, Math.min(centred, rightmost)),
    top: fits ? above - own.height : below,
  };
}
