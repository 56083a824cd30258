/** How punctual the last ticks of a schedule were. Pure. */
import { plural } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import type { LatestTick } from "./types";

export type Fate = "good" | "failed" | "skipped" | "open";

/** From here on a tick counts as late. */
export const LATE_SECONDS = 5;

export function fateOf(tick: LatestTick): Fate {
  if (tick.state === "skipped") return "skipped";
  if (tick.state === "failed" || tick.state === "expired" || tick.state === "dropped") return "failed";
  return tick.late === null || tick.late === undefined ? "open" : "good";
}

/** Of a bar, 0…1: delays span decades, so a second is a half and ten minutes are all of it. */
export function heightOf(late: number): number {
  const [least, most] = [Math.log10(0.001), Math.log10(600)];
  const share = (Math.log10(Math.max(late, 0.001)) - least) / (most - least);
  return Math.min(1, Math.max(0.16, share));
}

export interface Summary {
  ticks: number;
  started: number;
  late: number;
  failed: number;
  skipped: number;
  /** Seconds; null when none has started. */
  median: number | null;
  worst: number | null;
}

export function summarise(ticks: readonly LatestTick[]): Summary {
  const lates = ticks
    .flatMap((tick) => (typeof tick.late === "number" ? [tick.late] : []))
    .sort((a, b) => a - b);
  const count = (fate: Fate) =>
    ticks.filter((tick) => fateOf(tick) === fate).reduce((sum, tick) => sum + (tick.count ?? 1), 0);
  return {
    ticks: ticks.reduce((sum, tick) => sum + (tick.count ?? 1), 0),
    started: lates.length,
    late: lates.filter((late) => late >= LATE_SECONDS).length,
    failed: count("failed"),
    skipped: count("skipped"),
    median: lates[Math.floor((lates.length - 1) / 2)] ?? null,
    worst: lates.at(-1) ?? null,
  };
}

/** One sentence: it is what the picture is called. */
export function summaryWords(found: Summary): string {
  if (found.ticks === 0) return "No ticks yet";
  const parts = [`${plural(found.ticks, "tick")}`];
  if (found.median !== null && found.worst !== null) {
    parts.push(
      `started ${formatDuration(found.median)} late at the median, ${formatDuration(found.worst)} at worst`,
    );
  }
  if (found.failed > 0) parts.push(`${found.failed} failed`);
  if (found.skipped > 0) parts.push(`${found.skipped} skipped`);
  return parts.join(", ");
}
