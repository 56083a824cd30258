/** The editor's fields, from a definition and back. Pure. Numbers are kept as they were typed: the server judges them. */
import { finished } from "~/params/draft";
import type { Draft, Json } from "~/params/shape";
import type { Definition } from "../types";
import { type JobForm, jobForm, jobOptions } from "./jobForm";
import { duration, numeral } from "./numbers";

export interface RuleForm {
  key: number;
  kind: "cron" | "every";
  cron: string;
  every: string;
  /** An instant, or nothing. */
  anchor: string | null;
}

export interface WindowForm {
  key: number;
  days: string;
  start: string;
  end: string;
}

export interface Form {
  name: string;
  task: string;
  description: string;
  params: Draft;
  tick_param: string;
  rules: RuleForm[];
  tz: string;
  starts_at: string | null;
  ends_at: string | null;
  max_runs: string;
  jitter: string;
  gap: "" | NonNullable<Definition["gap"]>;
  fold: "" | NonNullable<Definition["fold"]>;
  calendars: string[];
  on_blocked: NonNullable<Definition["on_blocked"]>;
  windows: WindowForm[];
  outside: NonNullable<Definition["outside"]>;
  overlap: NonNullable<Definition["overlap"]>;
  missed: NonNullable<Definition["missed"]>;
  missed_limit: string;
  missed_window: string;
  job: JobForm;
}

let keys = 0;

/** Rules and windows come and go: each has a name of its own while it is edited. */
export function newKey(): number {
  keys += 1;
  return keys;
}

export function newRule(cron = ""): RuleForm {
  return { key: newKey(), kind: "cron", cron, every: "", anchor: null };
}

export function newWindow(): WindowForm {
  return { key: newKey(), days: "MON-FRI", start: "08:00", end: "18:00" };
}

/** A new schedule begins with a rule that most people can change into theirs. */
export function emptyForm(tz: string): Form {
  return { ...formOf({ name: "", task: "", tz }), rules: [newRule("0 9 * * *")] };
}

export function formOf(it: Definition): Form {
  return {
    name: it.name,
    task: it.task,
    description: it.description ?? "",
    params: (it.params ?? {}) as Draft,
    tick_param: it.tick_param ?? "",
    rules: (it.rules ?? []).map((rule) => ({
      key: newKey(),
      kind: rule.cron ? "cron" : "every",
      cron: rule.cron ?? "",
      every: String(rule.every ?? ""),
      anchor: rule.anchor ?? null,
    })),
    tz: it.tz ?? "UTC",
    starts_at: it.starts_at ?? null,
    ends_at: it.ends_at ?? null,
    max_runs: it.max_runs ? String(it.max_runs) : "",
    jitter: String(it.jitter ?? ""),
    gap: it.gap ?? "",
    fold: it.fold ?? "",
    calendars: it.calendars ?? [],
    on_blocked: it.on_blocked ?? "skip",
    windows: (it.windows ?? []).map(({ days, start, end }) => ({
      key: newKey(),
      days: days ?? "",
      start: start ?? "00:00",
      end: end ?? "24:00",
    })),
    outside: it.outside ?? "skip",
    overlap: it.overlap ?? "allow",
    missed: it.missed ?? "latest",
    missed_limit: String(it.missed_limit ?? 10),
    missed_window: String(it.missed_window ?? "1h"),
    job: jobForm((it.job ?? {}) as Record<string, Json>),
  };
}

export function definitionOf(form: Form): Definition {
  const { rules, windows, params, job, ...rest } = form;
  const said: Record<string, unknown> = {
    ...rest,
    rules: rules.map(({ kind, cron, every, anchor }) =>
      kind === "cron" ? { cron } : left({ every: duration(every), anchor }),
    ),
    windows: windows.map(({ days, start, end }) => left({ days: days.trim(), start, end })),
    params: finished(params),
    job: jobOptions(job),
    max_runs: numeral(form.max_runs),
    jitter: duration(form.jitter),
    missed_limit: form.missed === "all" ? numeral(form.missed_limit) : undefined,
    missed_window: form.missed === "window" ? duration(form.missed_window) : undefined,
    on_blocked: form.calendars.length > 0 ? form.on_blocked : undefined,
    outside: windows.length > 0 ? form.outside : undefined,
  };
  return left(said) as unknown as Definition;
}

/** Without what was left out; what is empty is the default everywhere. */
function left(said: Record<string, unknown>): Record<string, unknown> {
  const empty = (value: unknown) =>
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(said).filter(([, value]) => !empty(value)));
}
