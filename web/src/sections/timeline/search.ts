// Finds events of a timeline by words: "forward 3", "stage 2", "all-gather". A number is a whole word.
import type { Kind } from "../../document";
import type { Event, Lane } from "./lanes";

export interface Match {
  lane: Lane;
  index: number; // in the lane's events
}

const kMost = 2000; // matches: more are not marked one by one

/** Returns the events that a query matches, by lane and time; at most kMost. The words as a phrase count
 * first; else every word must occur. */
export function findEvents(lanes: Lane[], kinds: Kind[], query: string): Match[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const phrase = ` ${words.join(" ")} `;
  const asPhrase = collect(lanes, kinds, (text) => text.includes(phrase));
  if (asPhrase.length > 0) return asPhrase;
  return collect(lanes, kinds, (text) =>
    words.every((word) => (/^\d+$/.test(word) ? text.includes(` ${word} `) : text.includes(` ${word}`))),
  );
}

function collect(lanes: Lane[], kinds: Kind[], matches: (text: string) => boolean): Match[] {
  const found: Match[] = [];
  for (const lane of lanes)
    for (let index = 0; index < lane.events.length && found.length < kMost; ++index)
      if (matches(textOf(lane, lane.events[index], kinds))) found.push({ lane, index });
  return found;
}

function textOf(lane: Lane, event: Event, kinds: Kind[]): string {
  const cell = event.stage < 0 ? event.step : `micro-batch ${event.microbatch} stage ${event.stage}`;
  return ` ${kinds[event.kind].name} ${cell} pp rank ${lane.ppRank} `.toLowerCase();
}
