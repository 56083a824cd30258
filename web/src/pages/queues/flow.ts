/** The sums of a queue as lines of a plot. */
import type { Schemas } from "~/api/types";
import type { Series } from "~/components/Plot";

export interface FlowRange {
  value: string;
  label: string;
  seconds: number;
}

export const RANGES: readonly FlowRange[] = [
  { value: "1h", label: "1 h", seconds: 3600 },
  { value: "6h", label: "6 h", seconds: 6 * 3600 },
  { value: "1d", label: "1 d", seconds: 86_400 },
  { value: "7d", label: "7 d", seconds: 7 * 86_400 },
];

export interface Flow {
  times: number[];
  rates: Series[];
  waits: Series[];
}

type Counted = "submitted" | "started" | "succeeded" | "failed";

const LINES: readonly { label: string; color: string; of: Counted }[] = [
  { label: "in", color: "--state-ready", of: "submitted" },
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
