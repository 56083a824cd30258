/** How far to look back: one spelling and one order wherever it is chosen. Pure. */

const SECONDS = {
  "15m": 900,
  "1h": 3600,
  "6h": 6 * 3600,
  "1d": 86_400,
  "7d": 7 * 86_400,
  "30d": 30 * 86_400,
} as const;

export type Range = keyof typeof SECONDS;

/** "15 m", "1 h", "7 d": for a row of buttons. */
export function rangeChoices<R extends Range>(...ranges: R[]): { value: R; label: string }[] {
  return ranges.map((value) => ({ value, label: value.replace(/\D/, " $&") }));
}

/** The beginning of a range, at whole minutes, so that the question stays the same for that long. */
export function sinceOf(range: Range, now: Date): string {
  const minute = Math.floor(now.getTime() / 60_000) * 60_000;
  return new Date(minute - SECONDS[range] * 1000).toISOString();
}
