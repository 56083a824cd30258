/** A submit by hand: what the form says as a request, and as commands. Pure. */
import type { Body } from "~/api/call";
import { readLabels } from "~/lib/labels";
import { finished } from "~/params/draft";
import type { Draft } from "~/params/shape";

export type Request = Body<"/v1/jobs", "post">;

export interface Options {
  when: "now" | "later" | "at";
  delay: string;
  at: string;
  priority: string;
  queue: string;
  attempts: string;
  timeout: string;
  labels: string;
}

export const NO_OPTIONS: Options = {
  when: "now",
  delay: "",
  at: "",
  priority: "",
  queue: "",
  attempts: "",
  timeout: "",
  labels: "",
};

export type OptionFaults = Partial<Record<keyof Options, string>>;

/** What can be seen to be wrong before anything is sent. */
export function optionFaults(options: Options): OptionFaults {
  const faults: OptionFaults = {};
  if (options.when === "later" && options.delay.trim() === "")
    faults.delay = "Say how much later, such as 10m";
  if (options.when === "at" && options.at === "") faults.at = "Say when";
  if (options.attempts !== "" && !/^[1-9]\d*$/.test(options.attempts))
    faults.attempts = "A whole number from 1 on";
  if (readLabels(options.labels, ",") === undefined) faults.labels = "Write name=value, separated by commas";
  return faults;
}

/** Only what was given: the rest comes from the task's definition. `at` is the instant that the form means. */
export function requestOf(
  task: string,
  params: Draft,
  options: Options,
  at: Date | null,
  tenant: string | undefined,
): Request {
  const labels = readLabels(options.labels, ",") ?? {};
  const given = {
    params: finished(params ?? {}) as never,
    tenant,
    delay: options.when === "later" ? options.delay.trim() : undefined,
    run_at: options.when === "at" && at ? at.toISOString() : undefined,
    priority: options.priority === "" ? undefined : Number(options.priority),
    queue: options.queue.trim() || undefined,
    max_attempts: options.attempts === "" ? undefined : Number(options.attempts),
    timeout: options.timeout.trim() || undefined,
    labels: Object.keys(labels).length > 0 ? labels : undefined,
  };
  return { task, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}

const FLAGS: readonly (readonly [keyof Request, string])[] = [
  ["tenant", "--tenant"],
  ["delay", "--delay"],
  ["run_at", "--at"],
  ["priority", "--priority"],
  ["queue", "--queue"],
  ["max_attempts", "--max-attempts"],
  ["timeout", "--timeout"],
];

/** The words of the same submit on the command line. */
export function submitWords(request: Request): string[] {
  const flags = FLAGS.flatMap(([name, flag]) => (request[name] == null ? [] : [flag, String(request[name])]));
  const labels = Object.entries(request.labels ?? {}).flatMap(([name, value]) => [
    "--label",
    `${name}=${value}`,
  ]);
  const params =
    Object.keys(request.params ?? {}).length > 0 ? ["--json-params", JSON.stringify(request.params)] : [];
  return ["horae", "submit", request.task, ...params, ...flags, ...labels];
}
