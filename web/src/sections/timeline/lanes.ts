// What the drawing of a timeline is made of, in seconds: of the prediction and of a run alike.
import type { Measured, Timeline, TimelineEvent } from "../../document";

export interface Lane {
  ppRank: number;
  end: number; // of the step, in seconds
  events: Event[]; // as they begin
  parts: number[][]; // instead of events: by part of the step the percent of each kind
}
export interface Event {
  begin: number; // seconds
  end: number;
  kind: number; // index in Timeline.kinds
  shade: number;
  stage: number; // -1: no cell
  microbatch: number; // -1: no cell
  step: string; // what it is, of what is no cell
  beside: boolean; // runs beside the cells
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

/** The event at a time, of the cells or of what runs beside them, or the nearest within `reach`
 * seconds: what is short is hard to hit. -1: none. */
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
