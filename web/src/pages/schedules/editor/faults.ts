/** What is wrong with the form, by the field it is shown at. Pure. */
import type { Fault } from "~/params/draft";
import { serverFaults } from "~/params/draft";
import type { Form } from "./form";
import { readLabels, readOther } from "./jobForm";

export interface Trouble {
  code: string;
  detail: string;
  field?: string | null;
  errors?: { pointer: string; detail: string }[];
}

export interface Faults {
  /** By the path of the field, as the API calls it: tz, rules[0].cron, job.priority. */
  at: ReadonlyMap<string, string>;
  /** Of the params, by pointer. */
  params: readonly Fault[];
  /** What belongs to no field of the form. */
  rest: readonly string[];
}

const JOB = ["queue", "priority", "timeout", "max_attempts", "expires_in", "labels"];
const PLAIN = [
  "name", "task", "description", "tick_param", "tz", "starts_at", "ends_at", "max_runs", "jitter", "gap", "fold",
  "calendars", "on_blocked", "outside", "overlap", "missed", "missed_limit", "missed_window", "tenant",
]; // biome-ignore format: a list

/** What the browser can tell by itself; `strict` also names what has not been filled in yet. */
export function ownFaults(form: Form, strict: boolean): Map<string, string> {
  const found = new Map<string, string>();
  if (strict && form.name.trim() === "") found.set("name", "A schedule needs a name");
  if (strict && form.task.trim() === "") found.set("task", "Choose what to run");
  if (form.rules.length === 0) found.set("rules", "A schedule needs a rule");
  form.rules.forEach((rule, at) => {
    const empty = (rule.kind === "cron" ? rule.cron : rule.every).trim() === "";
    if (empty)
      found.set(
        `rules[${at}]`,
        rule.kind === "cron" ? "Five fields, such as 0 9 * * MON-FRI" : "Such as 15m or 1h",
      );
  });
  if (readLabels(form.job.labels) === null) found.set("job.labels", "A line each: name=value");
  if (readOther(form.job.other) === null)
    found.set("job.other", 'The JSON of an object, such as {"concurrency_key": "a"}');
  return found;
}

/** Joins what the browser found with what the server said. */
export function allFaults(
  own: ReadonlyMap<string, string>,
  params: readonly Fault[],
  said: Trouble | null,
): Faults {
  const at = new Map(own);
  if (said === null) return { at, params, rest: [] };
  const told = serverFaults(said.errors?.filter((error) => error.pointer.startsWith("/params")));
  if (told.length > 0) return { at, params: [...params, ...told], rest: [] };
  const place = placeOf(said.field ?? "");
  if (place === null) return { at, params, rest: [said.detail] };
  if (place === "params") return { at, params: [...params, { pointer: "", detail: said.detail }], rest: [] };
  if (!at.has(place)) at.set(place, withoutField(said.detail, said.field ?? ""));
  return { at, params, rest: [] };
}

/** The field of the form that a field of the API is shown at; null: none. */
export function placeOf(field: string): string | null {
  if (PLAIN.includes(field)) return field;
  if (field === "params" || field.startsWith("params.")) return "params";
  const many = /^(rules|windows)(?:\[(\d+)\])?/.exec(field);
  if (many) return many[2] === undefined ? (many[1] ?? null) : `${many[1]}[${many[2]}]`;
  const option = field.replace(/^job\.?/, "").split(".")[0] ?? "";
  if (JOB.includes(option)) return `job.${option}`;
  return field.startsWith("job") ? "job.other" : null;
}

/** "tz: 'X' is no zone" reads better without the name of the field it stands at. */
function withoutField(detail: string, field: string): string {
  const rest = detail.startsWith(`${field}: `) ? detail.slice(field.length + 2) : detail;
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}
