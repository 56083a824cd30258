/** Limits in words, and between the form and the API. */
import type { Schemas } from "~/api/types";
import { formatNumber } from "~/lib/text";

export type Limit = Schemas["Limit"];
export type LimitPut = Schemas["LimitPut"];
export type Field = NonNullable<Limit["each"]>[number];

export const FIELDS: readonly Field[] = ["tenant", "queue", "task", "key"];

/** Which jobs it is for. */
export function scopeOf(limit: Limit): string {
  const named = [
    limit.task && `task ${limit.task}`,
    limit.queue && `queue ${limit.queue}`,
    limit.key && `key ${limit.key}`,
  ].filter(Boolean);
  const each = limit.each?.length ? `each ${limit.each.join(" and ")} for itself` : "";
  return [named.join(", ") || "everything", each].filter(Boolean).join("; ");
}

/** Whether it lets nothing more run; of one for each of many, whether all of them that run are at their most. */
export function isUsedUp({ max_running, running, groups }: Limit): boolean {
  if (typeof max_running !== "number") return false;
  return (groups ?? 0) > 0 && (running ?? 0) >= max_running * (groups ?? 0);
}

/** A rate in the unit in which it is a figure that people use: 0.0028 a second is 10 an hour. */
export function rateWords(rate: number): string {
  if (rate >= 1) return `${formatNumber(rate)}/s`;
  if (rate * 60 >= 1) return `${formatNumber(rate * 60)}/m`;
  return `${formatNumber(rate * 3600)}/h`;
}

/** The same for the form: not rounded, for what it says is sent back. */
export function exactRate(rate: number): string {
  for (const [unit, seconds] of [
    ["s", 1],
    ["m", 60],
    ["h", 3600],
  ] as const) {
    const figure = Number((rate * seconds).toPrecision(12));
    if (figure >= 1 && figure / seconds === rate) return `${figure}/${unit}`;
  }
  return rate >= 0.001 ? `${rate}/s` : `${rate * 3600}/h`;
}

/** What the fields of the form hold: text, as it was typed. */
export interface Draft {
  name: string;
  tenant: string;
  queue: string;
  task: string;
  key: string;
  each: Field[];
  maxRunning: string;
  rate: string;
  burst: string;
  reason: string;
}

export function draftOf(limit: Limit | undefined): Draft {
  return {
    name: limit?.name ?? "",
    tenant: limit?.tenant ?? "",
    queue: limit?.queue ?? "",
    task: limit?.task ?? "",
    key: limit?.key ?? "",
    each: [...(limit?.each ?? [])],
    maxRunning: limit?.max_running?.toString() ?? "",
    rate: limit?.rate ? exactRate(limit.rate) : "",
    burst: limit?.burst?.toString() ?? "",
    reason: limit?.reason ?? "",
  };
}

/** Empty fields are left out, which means any. */
export function putOf(draft: Draft): LimitPut {
  const text = (value: string) => value.trim() || null;
  const number = (value: string) => (value.trim() === "" ? null : Number(value));
  return {
    tenant: text(draft.tenant),
    queue: text(draft.queue),
    task: text(draft.task),
    key: text(draft.key),
    each: draft.each,
    max_running: number(draft.maxRunning),
    rate: text(draft.rate),
    burst: draft.rate.trim() === "" ? null : number(draft.burst),
    reason: text(draft.reason),
  };
}

/** What is wrong with a draft that can be seen before it is sent. */
export function faultOf(draft: Draft): { field: "name" | "maxRunning"; text: string } | undefined {
  if (draft.name.trim() === "") return { field: "name", text: "A limit needs a name." };
  if (draft.maxRunning.trim() === "" && draft.rate.trim() === "") {
    return {
      field: "maxRunning",
      text: "Say how many may run at once, how many may start in a time, or both.",
    };
  }
  if (draft.maxRunning.trim() !== "" && !/^\d+$/.test(draft.maxRunning.trim())) {
    return { field: "maxRunning", text: "A whole number; 0 lets nothing start." };
  }
  return undefined;
}
