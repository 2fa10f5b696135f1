// The lanes of a timeline in seconds, for the prediction and for a run.
import type { Measured, Timeline, TimelineEvent } from "../../document";

export interface Lane {
  ppRank: number;
  end: number; // of the step, in seconds
  events: Event[]; // by begin
  parts: number[][]; // instead of events: by part of the step, the percent of each kind
}
export interface Event {
  begin: number; // seconds
  end: number;
  kind: number; // index in Timeline.kinds
  shade: number;
  stage: number; // -1: not a cell
  microbatch: number; // -1: not a cell
  step: string; // its name, if not a cell
  beside: boolean; // overlaps with the cells
}

export function predictedLanes(timeline: Timeline): Lane[] {
  return timeline.rows.map((row, r) => ({
    ppRank: row.pp_rank,
    end: timeline.end * timeline.tick_seconds,
    events: row.events.map((e) => eventOf(e, timeline.tick_seconds, timeline.steps)),
    parts: timeline.columns?.rows[r] ?? [],
  }));
}

export function measuredLanes(measured: Measured): Lane[] {
  return measured.rows.map((row) => ({
    ppRank: row.pp_rank,
    end: measured.end * measured.tick_seconds,
    events: row.events.map((e) => eventOf(e, measured.tick_seconds, measured.steps)),
    parts: [],
  }));
}

function eventOf(event: TimelineEvent, tick: number, steps: string[]): Event {
  const [begin, length, kind, shade, stage, microbatch] = event;
  const times = { begin: begin * tick, end: (begin + length) * tick };
  if (stage >= 0) return { ...times, kind, shade, stage, microbatch, step: "", beside: false };
  const beside = shade === 1;
  return { ...times, kind, shade: 0, stage, microbatch: -1, step: steps[microbatch], beside };
}

/** Returns the event at a time, among the cells or the overlapped events, or the nearest within `reach`
 * seconds, because short ones are hard to hit; -1 if there is none. */
export function eventAt(lane: Lane, seconds: number, reach: number, beside: boolean): number {
  let best = -1;
  let nearest = reach;
  lane.events.forEach((event, i) => {
    if (event.beside !== beside) return;
    const distance = Math.max(event.begin - seconds, seconds - event.end, 0);
    if (distance < nearest || (distance === 0 && nearest === 0)) [best, nearest] = [i, distance];
  });
  return best;
}
