/** What an edit, a retry or a clone varies: read from a form, only what differs from the job. */
import type { Job, Schemas } from "~/api/types";
import { readLabels } from "~/lib/labels";
import { INEXACT, inexactIn } from "~/params/exact";

export type Changes = Schemas["JobChanges"];

export interface ChangeForm {
  params: string;
  priority: string;
  queue: string;
  delay: string;
  maxAttempts: string;
  timeout: string;
  labels: string;
}

export function formOf(job: Job): ChangeForm {
  return {
    params: JSON.stringify(job.params, null, 2),
    priority: String(job.priority),
    queue: job.queue,
    delay: "",
    maxAttempts: String(job.max_attempts ?? 5),
    timeout: job.timeout ?? "",
    labels: labelText(job.labels ?? {}),
  };
}

function labelText(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}

export type Read = { changes: Changes } | { field: keyof ChangeForm; problem: string };

export function readChanges(form: ChangeForm, job: Job): Read {
  const before = formOf(job);
  const changed = (name: keyof ChangeForm) => form[name].trim() !== before[name].trim();
  const changes: Changes = {};
  if (changed("params")) {
    const params = readObject(form.params);
    if (params === undefined) return { field: "params", problem: "Not a JSON object" };
    // What the form began with may itself be rounded.
    if (inexactIn([job.params, params]) !== undefined) return { field: "params", problem: INEXACT };
    changes.params = params;
  }
  for (const [name, target, low, high] of NUMBERS) {
    if (!changed(name)) continue;
    const value = Number(form[name]);
    if (!Number.isInteger(value) || value < low || value > high) {
      return { field: name, problem: `A whole number from ${low} to ${high}` };
    }
    changes[target] = value;
  }
  if (changed("queue")) changes.queue = form.queue.trim();
  if (changed("delay")) changes.delay = form.delay.trim();
  if (changed("timeout")) changes.timeout = form.timeout.trim();
  if (changed("labels")) {
    const labels = readLabels(form.labels, "\n");
    if (labels === undefined) return { field: "labels", problem: "One name=value a line" };
    changes.labels = labels;
  }
  return { changes };
}

const NUMBERS = [
  ["priority", "priority", 1, 10],
  ["maxAttempts", "max_attempts", 1, 1000],
] as const;

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const OPTIONS: Record<string, string> = {
  priority: "--priority",
  queue: "--queue",
  delay: "--delay",
  max_attempts: "--max-attempts",
  timeout: "--timeout",
};

/** The changes as arguments of the command line. */
export function changeArguments(changes: Changes): string[] {
  const words = Object.entries(changes).flatMap(([name, value]) => {
    const option = OPTIONS[name];
    return option === undefined ? [] : [option, String(value)];
  });
  if (changes.params) words.push("--json-params", JSON.stringify(changes.params));
  for (const [name, value] of Object.entries(changes.labels ?? {})) words.push("--label", `${name}=${value}`);
  return words;
}
