/** What the codes of ticks and definitions mean, in words. */
import type { Definition, Tick } from "./types";

type Tone = "neutral" | "accent" | "warn" | "info";

/** Marks and reasons for skipping, as the API calls them. */
const MARKS: Record<string, readonly [label: string, tone: Tone]> = {
  gap_moved: ["Clock change: moved", "warn"],
  fold_first: ["Clock change: first of two", "warn"],
  fold_second: ["Clock change: second of two", "warn"],
  calendar_moved_next: ["Calendar: moved later", "info"],
  calendar_moved_previous: ["Calendar: moved earlier", "info"],
  window_deferred: ["Window: deferred", "info"],
  jittered: ["Jitter", "neutral"],
  gap: ["Skipped: clock change", "warn"],
  fold: ["Skipped: clock change", "warn"],
  calendar: ["Skipped: calendar", "info"],
  window: ["Skipped: outside windows", "info"],
  missed: ["Missed", "warn"],
  overlap: ["Skipped: overlap", "info"],
  max_runs: ["Skipped: all runs used", "neutral"],
};

export function markWords(code: string): { label: string; tone: Tone } {
  const [label, tone] = MARKS[code] ?? [code.replaceAll("_", " "), "neutral" as const];
  return { label, tone };
}

/** What is worth pointing out about a tick: jitter is every tick's lot. */
export function effectsOf(tick: Tick): string[] {
  const marks: string[] = (tick.marks ?? []).filter((mark) => mark !== "jittered");
  return tick.skipped ? [...marks, tick.skipped] : marks;
}

export const OVERLAPS = {
  allow: "Start all the same",
  skip: "Skip the tick",
  queue: "Wait until it has ended",
  replace: "Cancel it and start",
} as const;

export const MISSED = {
  latest: "Run the latest one",
  skip: "Run none",
  all: "Run all of them",
  window: "Run those not too late",
} as const;

export const ON_BLOCKED = {
  skip: "Skip the tick",
  next: "Move it to the next good day",
  previous: "Move it to the good day before",
} as const;

export const OUTSIDE = { skip: "Skip the tick", defer: "Defer it to the next opening" } as const;

export const GAPS = { "": "As cron does", after: "Fire right after the gap", skip: "Skip the tick" } as const;

export const FOLDS = {
  "": "As cron does",
  first: "Fire the first time",
  second: "Fire the second time",
  both: "Fire both times",
} as const;

/** The parts of a definition that differ from what is usual, each as a sentence. */
export function sentences(it: Definition): [string, string][] {
  const said: [string, string | false | null | undefined][] = [
    ["While a run goes on", OVERLAPS[it.overlap ?? "allow"]],
    ["Missed ticks", missedWords(it)],
    [
      "Calendars",
      it.calendars?.length ? `${it.calendars.join(", ")}. ${ON_BLOCKED[it.on_blocked ?? "skip"]}` : null,
    ],
    ["Windows", it.windows?.length ? windowWords(it) : null],
    ["Clocks go forward", it.gap ? GAPS[it.gap] : null],
    ["Clocks go back", it.fold ? FOLDS[it.fold] : null],
    ["Jitter", it.jitter ? `up to ${durationWords(it.jitter)}` : null],
    ["Ends after", it.max_runs ? `${it.max_runs} runs` : null],
    ["Tick's time goes to", it.tick_param],
  ];
  return said.filter((each): each is [string, string] => Boolean(each[1]));
}

function missedWords(it: Definition): string {
  const missed = it.missed ?? "latest";
  if (missed === "all") return `Run all of them, ${it.missed_limit ?? 10} at most`;
  if (missed === "window") return `Run those no later than ${durationWords(it.missed_window ?? "1h")}`;
  return MISSED[missed];
}

function windowWords(it: Definition): string {
  const each = (it.windows ?? []).map(
    ({ days, start, end }) => `${days ?? "daily"} ${start ?? "00:00"}–${end ?? "24:00"}`,
  );
  return `${each.join(", ")}. ${OUTSIDE[it.outside ?? "skip"]}`;
}

export function durationWords(duration: string | number): string {
  return typeof duration === "number" ? `${duration} s` : duration;
}
