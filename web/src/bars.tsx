// Rows of bars on one axis, shared by the drawings of the step, of memory and of a comparison.
import { scaleLinear } from "d3-scale";
import type { ComponentChildren } from "preact";
import "./bars.css";

/** Maps a quantity to percent of the track's width. */
export type Scale = (quantity: number) => number;

export function scaleTo(most: number): Scale {
  const scale = scaleLinear([0, most > 0 ? most : 1], [0, 100]);
  return (quantity) => scale(quantity);
}

/** Returns ticks at round multiples of `unit` up to `most`: bytes are round in GiB, not in billions. */
export function ticks(most: number, unit = 1): number[] {
  return scaleLinear([0, most / unit], [0, 1])
    .ticks(6)
    .map((tick) => tick * unit);
}

const kLast = 94; // percent: the text of a tick further right ends at it

/** The first row: ticks, and lines through all rows below. */
export function Axis(props: {
  scale: Scale;
  ticks: number[];
  show: (quantity: number) => string;
  children?: ComponentChildren; // additional marks, such as a limit
  lines?: ComponentChildren; // additional lines through the rows
}) {
  return (
    <>
      <li class="gridlines" aria-hidden="true">
        <span class="track">
          {props.ticks.map((tick) => (
            <i style={{ left: `${props.scale(tick)}%` }} />
          ))}
          {props.lines}
        </span>
      </li>
      <li class="bar-row axis" aria-hidden="true">
      <span class="track">
        {props.ticks.map((tick) => (
          <span
            class={props.scale(tick) > kLast ? "tick last" : "tick"}
            style={{ left: `${props.scale(tick)}%` }}
          >
            <span>{props.show(tick)}</span>
          </span>
        ))}
        {props.children}
      </span>
      </li>
    </>
  );
}

/** A bar from one quantity to another on the track. */
export function span(scale: Scale, from: number, to: number) {
  return { left: `${scale(from)}%`, width: `${scale(to) - scale(from)}%` };
}
