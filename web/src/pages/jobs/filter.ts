/** Which jobs are listed: read from the query string, written into questions and actions. */
import type { Body } from "~/api/call";
import type { State } from "~/api/types";
import { ENDED_STATES, PENDING_STATES, STATES } from "~/components/StateBadge";
import { type Label, labelOf } from "~/lib/labels";
import type { Zone } from "~/lib/preferences";
import { fromInput } from "~/lib/time";

/** As it was typed: what of it cannot be read stays in its field, where `filterFaults` says why. */
export interface JobFilter {
  states: State[];
  /** What was asked for beside them, and is no state. */
  noStates: string[];
  task: string;
  queue: string;
  user: string;
  worker: string;
  labels: string[];
  /** An instant, or a length of time before now such as 2h. */
  since: string;
  until: string;
  text: string;
  cause: string;
  /** Of instants that say no zone. */
  zone: Zone;
}

export const NAMES = [
  "status",
  "task",
  "queue",
  "user",
  "worker",
  "label",
  "since",
  "until",
  "text",
  "cause",
] as const;

export function readFilter(params: URLSearchParams, zone: Zone): JobFilter {
  const word = (name: string) => params.get(name)?.trim() ?? "";
  return {
    ...readStates(word("status")),
    task: word("task"),
    queue: word("queue"),
    user: word("user"),
    worker: word("worker"),
    labels: params.getAll("label"),
    since: word("since"),
    until: word("until"),
    text: params.get("text") ?? "",
    cause: word("cause"),
    zone,
  };
}

/** Labels as they stand in one field. A space before a word without a colon is one of the value. */
export function splitLabels(text: string): string[] {
  return text.trim().split(/\s+(?=[^\s:]+:)/);
}

function readStates(text: string): Pick<JobFilter, "states" | "noStates"> {
  const words = text.split(",").filter((name) => name !== "");
  const asked = new Set<string>(words.flatMap((name) => (name === "pending" ? PENDING_STATES : [name])));
  const states = STATES.filter((state) => asked.has(state));
  for (const state of states) asked.delete(state);
  return { states, noStates: [...asked] };
}

export function isEmpty({ zone, ...words }: JobFilter): boolean {
  return Object.values(words).every((value) => value.length === 0);
}

export type FilterFaults = Partial<Record<"status" | "label" | "worker" | "since" | "until", string>>;

/** What cannot be read, by its field. Such a filter is neither listed nor acted on: it would be a wider one. */
export function filterFaults(filter: JobFilter): FilterFaults {
  const faults: FilterFaults = {};
  if (filter.noStates.length > 0) faults.status = `There is no state ${filter.noStates.join(", ")}`;
  const labels = filter.labels.map(labelOf);
  const names = labels.map((label) => label?.[0]);
  if (names.includes(undefined)) faults.label = "Write name:value";
  else if (new Set(names).size < names.length) faults.label = "Each name once";
  if (!/^\d{0,18}$/.test(filter.worker)) faults.worker = "A number";
  for (const name of ["since", "until"] as const) {
    const unread = filter[name] !== "" && readMoment(filter[name], new Date(), filter.zone) === undefined;
    if (unread) faults[name] = "Write 2h, 1h30m or 2026-11-16 10:00";
  }
  return faults;
}

export function isReadable(filter: JobFilter): boolean {
  return Object.keys(filterFaults(filter)).length === 0;
}

const AGO = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g;
const SECONDS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?(Z|[+-]\d{2}:\d{2})?$/;

/** The instant that a time of the filter means now; undefined when it is none. */
export function readMoment(text: string, now: Date, zone: Zone): string | undefined {
  const ago = readAgo(text);
  if (ago !== undefined) {
    const seconds = [...ago.matchAll(PART)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * (SECONDS[unit ?? ""] ?? 0),
      0,
    );
    return instant(new Date(now.getTime() - seconds * 1000));
  }
  const [, day, clock = "00:00", offset] = INSTANT.exec(text) ?? [];
  if (day === undefined || instant(new Date(`${day}T00:00Z`))?.slice(0, 10) !== day) return undefined;
  return instant(offset ? new Date(`${day}T${clock}${offset}`) : fromInput(`${day}T${clock}`, zone));
}

/** A length of time, as the command line reads it too. */
function readAgo(text: string): string | undefined {
  const close = text.replace(/\s+/g, "");
  return AGO.test(close) ? close : undefined;
}

function instant(at: Date | null): string | undefined {
  return at === null || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** The filter as parameters of `GET /v1/jobs`. */
export function listQuery(filter: JobFilter, now: Date) {
  return {
    status: filter.states.join(",") || undefined,
    task: filter.task || undefined,
    queue: filter.queue || undefined,
    user: filter.user || undefined,
    worker: filter.worker || undefined,
    label: filter.labels,
    since: readMoment(filter.since, now, filter.zone),
    until: readMoment(filter.until, now, filter.zone),
    text: filter.text || undefined,
    cause: filter.cause || undefined,
  };
}

export type ActionFilter = Body<"/v1/jobs/actions", "post">["filter"];

/** The states an action is for, of those that are listed. */
export function statesToAct(filter: JobFilter, states: readonly State[]): State[] {
  return states.filter((state) => filter.states.length === 0 || filter.states.includes(state));
}

/** The filter as that of a bulk action, narrowed to the states that it is for; undefined when nothing is left. */
export function actionFilter(
  filter: JobFilter,
  now: Date,
  tenant: string | undefined,
  states: readonly State[],
): ActionFilter | undefined {
  const both = statesToAct(filter, states);
  if (both.length === 0 || !isReadable(filter)) return undefined;
  return {
    status: both.join(","),
    tenant,
    task: filter.task || undefined,
    queue: filter.queue || undefined,
    user: filter.user || undefined,
    worker: filter.worker ? Number(filter.worker) : undefined,
    label: Object.fromEntries(
      filter.labels.map(labelOf).filter((label): label is Label => label !== undefined),
    ),
    since: readMoment(filter.since, now, filter.zone),
    until: readMoment(filter.until, now, filter.zone),
    text: filter.text || undefined,
    cause: filter.cause || undefined,
  };
}

/** The filter as arguments of `horae jobs`. */
export function cliArguments(filter: JobFilter, tenant: string | undefined): string[] {
  const time = (text: string) => readAgo(text) ?? readMoment(text, new Date(), filter.zone) ?? "";
  const words: [string, string][] = [
    ["--status", filter.states.join(",")],
    ["--tenant", tenant ?? ""],
    ["--task", filter.task],
    ["--queue", filter.queue],
    ["--user", filter.user],
    ["--worker", filter.worker],
    ...filter.labels.map((label): [string, string] => ["--label", label.replace(":", "=")]),
    ["--since", time(filter.since)],
    ["--until", time(filter.until)],
    ["--text", filter.text],
    ["--cause", filter.cause],
  ];
  return words.filter(([, value]) => value !== "").flat();
}

/** Whether jobs that live are asked for by their state: these come in the order in which they stand. */
export function inLine(filter: JobFilter): boolean {
  return filter.cause === "" && filter.states.some((state) => LIVE_STATES.includes(state));
}

/** A cursor just above a job: the page from there on begins with it. */
export function cursorAbove(id: string): string {
  const next = (BigInt(`0x${id.replaceAll("-", "")}`) + 1n).toString(16).padStart(32, "0");
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** When the job of an id, or of a cursor, was made: its first 48 bits. */
export function momentOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16));
}

export const LIVE_STATES: State[] = [...PENDING_STATES, "running"];
export const AGAIN_STATES: State[] = ENDED_STATES.filter((state) =>
  ["failed", "cancelled", "dropped"].includes(state),
);
