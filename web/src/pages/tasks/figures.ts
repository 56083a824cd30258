/** What became of tasks' jobs, summed and in words. Pure. */
import type { Answer } from "~/api/call";
import type { Schemas } from "~/api/types";
import { type Range, rangeChoices } from "~/lib/ranges";

export { sinceOf } from "~/lib/ranges";

export type Task = Answer<"/v1/tasks", "get">["items"][number];
export type Totals = Answer<"/v1/tasks/statistics", "get">["items"][number];
export type Step = Answer<"/v1/tasks/{name}/statistics", "get">["items"][number];
export type Figures = Omit<Step, "at">;
export type Definition = Schemas["TaskDefinition"];

export const RANGES = rangeChoices("1h", "6h", "1d", "7d", "30d");

export function rangeOf(text: string | null): Range {
  return RANGES.find((range) => range.value === text)?.value ?? "1d";
}

interface Counted {
  succeeded?: number;
  failed?: number;
  cancelled?: number;
  other?: number;
}

export interface Summary {
  submitted: number;
  ended: number;
  failed: number;
  retried: number;
  p50: number | undefined;
  p95: number | undefined;
  wait: number | undefined;
}

export function endedOf({ succeeded = 0, failed = 0, cancelled = 0, other = 0 }: Counted): number {
  return succeeded + failed + cancelled + other;
}

/** One figure for many: counts add up; of durations the mean, weighed by how many ran, is near enough for a glance. */
export function summed(parts: readonly Figures[]): Summary {
  const sum = (pick: (part: Figures) => number | undefined) =>
    parts.reduce((total, part) => total + (pick(part) ?? 0), 0);
  const weighed = (name: "p50" | "p95" | "wait") => {
    const told = parts.filter((part) => part[name] !== undefined && part[name] !== null);
    const weight = told.reduce((total, part) => total + (part.started || 1), 0);
    return weight === 0
      ? undefined
      : told.reduce((total, part) => total + (part[name] ?? 0) * (part.started || 1), 0) / weight;
  };
  return {
    submitted: sum((part) => part.submitted),
    ended: sum(endedOf),
    failed: sum((part) => part.failed),
    retried: sum((part) => part.retried),
    p50: weighed("p50"),
    p95: weighed("p95"),
    wait: weighed("wait"),
  };
}

/** Totals by task: those of one tenant for its own task, those of all for a task that all may use. */
export function totalsOf(task: Task, totals: readonly Totals[] | undefined): Summary | undefined {
  if (totals === undefined) return undefined;
  const { name } = task.definition;
  return summed(
    totals.filter((each) => each.task === name && (task.tenant == null || each.tenant === task.tenant)),
  );
}

export function matches(task: Task, text: string, kind: string): boolean {
  if (kind !== "" && (task.kind ?? "function") !== kind) return false;
  const wanted = text.trim().toLowerCase();
  const { name, description } = task.definition;
  return name.toLowerCase().includes(wanted) || (description ?? "").toLowerCase().includes(wanted);
}
