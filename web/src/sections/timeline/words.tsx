import type { Kind, Timeline } from "../../document";
import { percent, seconds } from "../../format";
import type { Event, Lane } from "./lanes";

/** The target of touch, pointer and keys: a cell, or a part of the step. */
export interface Spot {
  lane: Lane;
  index: number; // in the lane's events or parts
  words: Fact[];
}
type Fact = [name: string, text: string];

export function spotOf(lane: Lane, index: number, kinds: Kind[]): Spot {
  const words =
    lane.parts.length > 0
      ? partFacts(lane, index, kinds)
      : eventFacts(lane.events[index], kinds[lane.events[index].kind]);
  return { lane, index, words: [["PP rank", String(lane.ppRank)], ...words] };
}

/** Returns the begin and end, in seconds. */
export function timesOf({ lane, index }: Spot): { begin: number; end: number } {
  if (lane.parts.length === 0) return lane.events[index];
  const length = lane.end / lane.parts.length;
  return { begin: index * length, end: (index + 1) * length };
}

function eventFacts(event: Event, kind: Kind): Fact[] {
  const times: Fact[] = [
    ["begins", seconds(event.begin)],
    ["takes", seconds(event.end - event.begin)],
  ];
  if (event.stage < 0)
    return [
      ["step", event.step],
      ["kind", event.beside ? `${kind.name}, overlapped` : kind.name],
      ...times,
    ];
  return [
    ["kind", kind.name],
    ["micro-batch", String(event.microbatch)],
    ["stage", String(event.stage)],
    ...times,
  ];
}

function partFacts(lane: Lane, part: number, kinds: Kind[]): Fact[] {
  const shares = lane.parts[part];
  const idle = 100 - shares.reduce((sum, share) => sum + share, 0);
  const length = lane.end / lane.parts.length;
  return [
    ["from", seconds(part * length)],
    ["to", seconds((part + 1) * length)],
    ...kinds.flatMap((kind, k): Fact[] =>
      shares[k] > 0 ? [[kind.name, percent(shares[k] / 100)]] : [],
    ),
    ...(idle > 0 ? [["idle", percent(idle / 100)] as Fact] : []),
  ];
}

/** Returns what lighter cells are, with the text of rankwright/report/timeline/timeline_svg.cc; "" if there
 * are none. */
export function shadeWords({ kinds, summary }: Timeline): string {
  if (kinds.every((kind) => kind.colors.length < 2)) return "";
  return summary.chunks > 1
    ? "lighter cells are later chunks"
    : "lighter cells entered at the other end";
}

export const sentence = (spot: Spot) => spot.words.map((fact) => fact.join(" ")).join(", ");

export function Facts({ spot }: { spot: Spot }) {
  return (
    <table class="plain">
      <tbody>
        {spot.words.map(([name, text]) => (
          <tr>
            <td class="quiet">{name}</td>
            <td>{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
