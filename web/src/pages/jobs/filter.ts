/** Which jobs are listed: read from the query string, written into questions and actions. */
import type { Body } from "~/api/call";
import type { State } from "~/api/types";
import { ENDED_STATES, PENDING_STATES, STATES } from "~/components/StateBadge";

export interface JobFilter {
  states: State[];
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

export function readFilter(params: URLSearchParams): JobFilter {
  const word = (name: string) => params.get(name)?.trim() ?? "";
  return {
    states: readStates(word("status")),
    task: word("task"),
    queue: word("queue"),
    user: word("user"),
    worker: /^\d+$/.test(word("worker")) ? word("worker") : "",
    labels: params.getAll("label").filter((label) => label.includes(":")),
    since: word("since"),
    until: word("until"),
    text: params.get("text") ?? "",
    cause: word("cause"),
  };
}

function readStates(text: string): State[] {
  const asked = new Set(text.split(",").flatMap((name) => (name === "pending" ? PENDING_STATES : [name])));
  return STATES.filter((state) => asked.has(state));
}

export function isEmpty(filter: JobFilter): boolean {
  return Object.values(filter).every((value) => value.length === 0);
}

const AGO = /^(\d+(?:\.\d+)?)\s*(s|m|h|d|w)$/;
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** The instant that a time of the filter means now; undefined when it is none. */
export function readMoment(text: string, now: Date): string | undefined {
  const ago = AGO.exec(text);
  if (ago)
    return new Date(now.getTime() - Number(ago[1]) * (SECONDS[ago[2] ?? ""] ?? 0) * 1000).toISOString();
  const at = new Date(text);
  return text === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
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
    since: readMoment(filter.since, now),
    until: readMoment(filter.until, now),
    text: filter.text || undefined,
    cause: filter.cause || undefined,
  };
}

export type ActionFilter = Body<"/v1/jobs/actions", "post">["filter"];

/** The filter as that of a bulk action, narrowed to the states that the action is for. */
export function actionFilter(
  filter: JobFilter,
  now: Date,
  tenant: string | undefined,
  states: State[],
): ActionFilter {
  const both = filter.states.length === 0 ? states : states.filter((state) => filter.states.includes(state));
  return {
    status: both.join(",") || states.join(","),
    tenant,
    task: filter.task || undefined,
    queue: filter.queue || undefined,
    user: filter.user || undefined,
    worker: filter.worker ? Number(filter.worker) : undefined,
    label: Object.fromEntries(filter.labels.map(splitLabel)),
    since: readMoment(filter.since, now),
    until: readMoment(filter.until, now),
    text: filter.text || undefined,
    cause: filter.cause || undefined,
  };
}

function splitLabel(label: string): [string, string] {
  const at = label.indexOf(":");
  return [label.slice(0, at), label.slice(at + 1)];
}

/** The filter as arguments of `horae jobs`. */
export function cliArguments(filter: JobFilter, tenant: string | undefined): string[] {
  const words: [string, string][] = [
    ["--status", filter.states.join(",")],
    ["--tenant", tenant ?? ""],
    ["--task", filter.task],
    ["--queue", filter.queue],
    ["--user", filter.user],
    ["--worker", filter.worker],
    ...filter.labels.map((label): [string, string] => ["--label", label.replace(":", "=")]),
    ["--since", filter.since],
    ["--until", filter.until],
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
