/** The sums of a queue as lines of a plot. */
import type { Schemas } from "~/api/types";
import type { Series } from "~/components/Plot";
import { rangeChoices } from "~/lib/ranges";

export const RANGES = rangeChoices("1h", "6h", "1d", "7d");

/**
 * How many jobs a second a queue gets longer by; 0 where nothing tells. What will be tried again waits again, an empty
 * queue cannot get shorter, and small differences are noise.
 */
export function growthOf(queue: Schemas["Queue"]): number {
  const comes = queue.submit_rate + queue.retry_rate;
  const grows = comes - queue.start_rate;
  return queue.pending === 0 || Math.abs(grows) < Math.max(0.1, comes * 0.05) ? 0 : grows;
}

export interface Flow {
  times: number[];
  rates: Series[];
  waits: Series[];
}

type Counted = "submitted" | "started" | "succeeded" | "failed";

const LINES: readonly { label: string; color: string; of: Counted }[] = [
  { label: "submitted", color: "--state-ready", of: "submitted" },
  { label: "started", color: "--state-running", of: "started" },
  { label: "succeeded", color: "--state-succeeded", of: "succeeded" },
  { label: "failed", color: "--state-failed", of: "failed" },
];

/** Counts in a step become rates a second, of which steps of any length can be compared. */
export function flowOf(told: Schemas["TaskStatistics"]): Flow {
  const { items, step } = told;
  return {
    times: items.map((item) => Date.parse(item.at) / 1000),
    rates: LINES.map((line) => ({
      label: line.label,
      color: line.color,
      values: items.map((item) => (item[line.of] ?? 0) / step),
    })),
    waits: [{ label: "mean start delay", color: "--accent", values: items.map((item) => item.wait ?? null) }],
  };
}
