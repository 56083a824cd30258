/** Options of the schedule's jobs: the usual ones as fields, the rest as JSON. Pure. */
import { isObject, type Json } from "~/params/shape";
import { duration, numeral } from "./numbers";

export interface JobForm {
  queue: string;
  priority: string;
  timeout: string;
  max_attempts: string;
  expires_in: string;
  /** A line each: name=value. */
  labels: string;
  /** JSON of an object, or nothing. */
  other: string;
}

export function jobForm(job: Record<string, Json>): JobForm {
  const { queue, priority, timeout, max_attempts, expires_in, labels, ...other } = job;
  const text = (value: Json | undefined) => (value === undefined || value === null ? "" : String(value));
  return {
    queue: text(queue),
    priority: text(priority),
    timeout: text(timeout),
    max_attempts: text(max_attempts),
    expires_in: text(expires_in),
    labels: isObject(labels)
      ? Object.entries(labels)
          .map(([name, value]) => `${name}=${String(value)}`)
          .join("\n")
      : "",
    other: Object.keys(other).length === 0 ? "" : JSON.stringify(other, null, 2),
  };
}

export function jobOptions(form: JobForm): Record<string, unknown> | undefined {
  const said: Record<string, unknown> = {
    ...readOther(form.other),
    queue: form.queue.trim() || undefined,
    priority: numeral(form.priority),
    timeout: duration(form.timeout),
    max_attempts: numeral(form.max_attempts),
    expires_in: duration(form.expires_in),
    labels: readLabels(form.labels),
  };
  const given = Object.entries(said).filter(([, value]) => value !== undefined && value !== null);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** Undefined when there are none, null when a line cannot be read. */
export function readLabels(text: string): Record<string, string> | undefined | null {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return undefined;
  if (lines.some((line) => line.indexOf("=") < 1)) return null;
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")).trim(), line.slice(line.indexOf("=") + 1).trim()]),
  );
}

/** Null when it is not the JSON of an object. */
export function readOther(text: string): Record<string, unknown> | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
