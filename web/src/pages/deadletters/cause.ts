/** Dead letters of one cause, in words and as filters. Pure. */
import type { Answer } from "~/api/call";
import type { Schemas } from "~/api/types";

export type Cause = Answer<"/v1/dead-letters", "get">["causes"][number];
export type Filter = Schemas["JobsFilter"];

export type Range = "all" | "1h" | "1d" | "7d";

export const RANGES: readonly { value: Range; label: string }[] = [
  { value: "all", label: "All" },
  { value: "7d", label: "7 days" },
  { value: "1d", label: "Day" },
  { value: "1h", label: "Hour" },
];

const SECONDS: Record<Exclude<Range, "all">, number> = { "1h": 3600, "1d": 86_400, "7d": 7 * 86_400 };

export function rangeOf(text: string | null): Range {
  return RANGES.find((range) => range.value === text)?.value ?? "all";
}

/** The beginning of the range, at whole minutes: an address that changes each second would be asked each second. */
export function sinceOf(range: Range, now: Date): string | undefined {
  if (range === "all") return undefined;
  const minute = Math.floor(now.getTime() / 60_000) * 60_000;
  return new Date(minute - SECONDS[range] * 1000).toISOString();
}

/** How long it takes to run so many again at a rate. */
export function secondsAtRate(jobs: number, rate: number): number | undefined {
  return rate > 0 ? jobs / rate : undefined;
}

/** What was printed, without the codes that colour it. */
export function plainLog(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins such a code
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "");
}
