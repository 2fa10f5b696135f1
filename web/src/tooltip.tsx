// One tooltip for the whole page. It is placed next to its anchor, never on it, appears on keyboard focus
// and hover, and disappears with Escape. It repeats the anchor's aria-label, so it is hidden from screen
// readers.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Focus, nothing, type Point } from "./focus";

/** An element, or the rectangle of a part of a drawing without its own element. */
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

/** Returns event handlers for an element that highlights others and has a tooltip. A click or Enter pins
 * it. */
export function pointing(
  point: Point,
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
  const pin = () => point.pin(focus);
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.key !== "Enter" && event.key !== " ") || event.target !== event.currentTarget) return;
    event.preventDefault();
    pin();
  };
  return {
    onPointerEnter: on,
    onPointerLeave: off,
    onFocus: on,
    onBlur: off,
    onClick: pin,
    onKeyDown,
  };
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

/** Places the tooltip above the anchor if there is room, else on the side with more room; horizontally
 * inside the window. */
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
