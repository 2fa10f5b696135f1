import { select } from "d3-selection";
import { zoom, type ZoomBehavior, zoomIdentity } from "d3-zoom";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

const kMost = 4000; // maximum zoom factor: a step of seconds down to milliseconds
const kStep = 1.6; // zoom factor of a button or a key
const kPan = 0.2; // fraction of the view
const kNotch = 0.35; // per wheel event, as a power of 2: a mouse's is 40 times a touchpad's

/** Horizontal zoom and pan. The wheel zooms only with ctrl or ⌘, and scrolls the page otherwise; a finger
 * pans if zoomed in, and scrolls the page otherwise. */
export function useZoom(width: number, initial: { from: number; to: number }) {
  const plot = useRef<SVGGElement>(null);
  const [seen, setSeen] = useState(initial); // fractions of the whole
  const behavior = useMemo(() => zoom<SVGGElement, unknown>().scaleExtent([1, kMost]), []);

  useLayoutEffect(() => {
    if (!plot.current || width <= 0) return;
    const scale = 1 / (seen.to - seen.from);
    const now = zoomIdentity.scale(scale).translate(-seen.from * width, 0);
    behavior
      .extent([
        [0, 0],
        [width, 1],
      ])
      .translateExtent([
        [0, 0],
        [width, 1],
      ])
      .filter((event) => wanted(event, plot.current!))
      .wheelDelta((event) => Math.max(-kNotch, Math.min(kNotch, -event.deltaY * 0.01)))
      .on("zoom", ({ transform: { k, x } }) =>
        setSeen({ from: -x / k / width, to: (width - x) / k / width }),
      );
    select(plot.current).call(behavior).on("dblclick.zoom", null).call(behavior.transform, now);
    // The view is kept when the width changes; this effect reads it only then.
  }, [behavior, width]);

  return { plot, seen, ...movesOf(plot, behavior, width) };
}

function wanted(event: Event, plot: SVGGElement): boolean {
  if (event instanceof WheelEvent) return event.ctrlKey || event.metaKey;
  if (typeof TouchEvent !== "undefined" && event instanceof TouchEvent)
    return event.touches.length > 1 || scaleOf(plot) > 1;
  return (event as MouseEvent).button === 0;
}

/** d3-zoom keeps its transform on the element. */
const scaleOf = (plot: SVGGElement) =>
  (plot as SVGGElement & { __zoom?: { k: number } }).__zoom?.k ?? 1;

function movesOf(
  plot: { current: SVGGElement | null },
  behavior: ZoomBehavior<SVGGElement, unknown>,
  width: number,
) {
  const on = () => select(plot.current!);
  const moves = {
    closer: () => on().call(behavior.scaleBy, kStep),
    farther: () => on().call(behavior.scaleBy, 1 / kStep),
    whole: () => on().call(behavior.transform, zoomIdentity),
    later: () => on().call(behavior.translateBy, (-kPan * width) / scaleOf(plot.current!), 0),
    earlier: () => on().call(behavior.translateBy, (kPan * width) / scaleOf(plot.current!), 0),
  };
  const keys: Record<string, () => void> = {
    "+": moves.closer,
    "=": moves.closer,
    "-": moves.farther,
    "0": moves.whole,
    ArrowRight: moves.later,
    ArrowLeft: moves.earlier,
  };
  /** Moves this fraction of the whole to the middle. */
  const bring = (share: number) => on().call(behavior.translateTo, share * width, 0);
  return { moves, keys, bring };
}
