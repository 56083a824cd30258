/** Dead letters of one cause, in words and as filters. Pure. */
import type { Answer } from "~/api/call";
import type { Schemas } from "~/api/types";
import { sinceOf as beginning, rangeChoices } from "~/lib/ranges";

export type Cause = Answer<"/v1/dead-letters", "get">["causes"][number];
export type Filter = Schemas["JobsFilter"];

export type Range = "1h" | "1d" | "7d" | "all";

export const RANGES: readonly { value: Range; label: string }[] = [
  ...rangeChoices("1h", "1d", "7d"),
  { value: "all", label: "All" },
];

export function rangeOf(text: string | null): Range {
  return RANGES.find((range) => range.value === text)?.value ?? "all";
}

export function sinceOf(range: Range, now: Date): string | undefined {
  return range === "all" ? undefined : beginning(range, now);
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
