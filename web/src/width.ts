import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Returns the width of an element in pixels, updated when the window changes; 0 before it is mounted.
 * Drawings with fixed-size parts are laid out by it. */
export function useWidth<T extends Element>() {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.floor(element.current!.getBoundingClientRect().width));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return { element, width };
}
