// The columns of the worksheet's tables, with the terms of `rankwright explain`.
import type { Communication, Explain, Memory } from "../document";
import { bytes, bytesPerSecond, count, memory, seconds } from "../format";
import type { Column } from "../table";

type Element<T> = T extends (infer E)[] ? E : never;

export const axes: Column<Element<Explain["axes"]>>[] = [
  { title: "axis", key: "axis" },
  { title: "degree", key: "degree" },
  { title: "placement", key: "placement" },
  { title: "reason", key: "reason" },
];

export const communication: Column<Communication>[] = [
  { title: "communication", key: "communication" },
  { title: "frequency", key: "frequency" },
  { title: "calls", key: "calls", show: (c) => count(c.calls), number: true },
  { title: "bytes", key: "bytes", show: (c) => bytes(c.bytes), number: true },
  { title: "in all", key: "total_bytes", show: (c) => bytes(c.total_bytes), number: true },
  { title: "preferred", key: "preferred_level" },
  { title: "level", key: "level" },
  { title: "algorithm", key: "algorithm" },
  {
    title: "groups/link",
    key: "groups_per_link",
    show: (c) => count(c.groups_per_link),
    number: true,
  },
  { title: "time", key: "seconds", show: (c) => seconds(c.seconds), number: true },
  { title: "critical", key: "critical_path", show: (c) => (c.critical_path ? "yes" : "no") },
];

export const states: Column<Element<Explain["states"]>>[] = [
  { title: "state", key: "state" },
  { title: "TP", key: "tp" },
  { title: "PP", key: "pp" },
  { title: "CP", key: "cp" },
  { title: "DP", key: "dp" },
  { title: "EP", key: "ep" },
  { title: "kept consistent by", key: "consistent" },
  { title: "critical path", key: "critical" },
];

export const entries: Column<Element<Memory["entries"]>>[] = [
  { title: "entry", key: "entry" },
  { title: "bytes", key: "bytes", show: (e) => memory(e.bytes), number: true },
  { title: "formula", key: "formula" },
  { title: "origin", key: "origin" },
  { title: "what it is", key: "meaning" },
];

export const levels: Column<Element<Explain["cluster"]["levels"]>>[] = [
  { title: "level", key: "name" },
  { title: "joins", key: "arity", show: (l) => count(l.arity), number: true },
  {
    title: "bandwidth",
    key: "bandwidth_bytes_per_second",
    show: (l) => bytesPerSecond(l.bandwidth_bytes_per_second),
    number: true,
  },
  { title: "per", key: "per" },
  { title: "origin", key: "bandwidth_origin" },
  {
    title: "latency",
    key: "latency_seconds",
    show: (l) => seconds(l.latency_seconds),
    number: true,
  },
  { title: "origin", key: "latency_origin" },
  { title: "oversubscription", key: "oversubscription", number: true },
];

export const assumed: Column<Element<Explain["assumed"]>>[] = [
  { title: "left open", key: "key" },
  { title: "assumed", key: "value" },
  { title: "because", key: "why" },
];
