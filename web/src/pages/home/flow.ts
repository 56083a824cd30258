/** The arithmetic of the home page: counts in steps become rates that can be compared. */

export interface RateUnit {
  name: "s" | "min" | "h";
  seconds: number;
}

const UNITS: readonly RateUnit[] = [
  { name: "s", seconds: 1 },
  { name: "min", seconds: 60 },
  { name: "h", seconds: 3600 },
];

/** The first unit in which the largest rate has a digit before the point. */
export function rateUnit(perSecond: number): RateUnit {
  return UNITS.find((unit) => perSecond * unit.seconds >= 1) ?? (perSecond > 0 ? HOURLY : SECONDLY);
}

const SECONDLY: RateUnit = { name: "s", seconds: 1 };
const HOURLY: RateUnit = { name: "h", seconds: 3600 };

/** How long each step lasted: the last one may still go on, and the first moments of it say nothing yet. */
export function stepLengths(starts: readonly number[], step: number, now: number): (number | null)[] {
  return starts.map((start) => {
    const lasted = Math.min(step, now - start);
    return lasted >= step * 0.25 ? lasted : null;
  });
}

export function perSecond(counts: readonly number[], lengths: readonly (number | null)[]): (number | null)[] {
  return counts.map((count, at) => {
    const length = lengths[at];
    return length === null || length === undefined ? null : count / length;
  });
}

const LEAST_SPAN = 1.5;

/** Counts of the last `span` seconds, as pulses bring them. */
export class RecentFlow {
  private beats: { at: number; ended: number; submitted: number }[] = [];

  constructor(private readonly span: number) {}

  add(at: number, ended: number, submitted: number): void {
    this.beats.push({ at, ended, submitted });
    this.forget(at);
  }

  /** Of the span, or of the time since pulses began to come; undefined while that says nothing yet. */
  rates(now: number, since: number): { ended: number; submitted: number } | undefined {
    this.forget(now);
    const seconds = Math.min(this.span, now - since);
    if (seconds < LEAST_SPAN) return undefined;
    const heard = this.beats.filter((beat) => beat.at >= since);
    const sum = (pick: "ended" | "submitted") =>
      heard.reduce((total, beat) => total + beat[pick], 0) / seconds;
    return { ended: sum("ended"), submitted: sum("submitted") };
  }

  private forget(now: number): void {
    this.beats = this.beats.filter((beat) => now - beat.at < this.span);
  }
}
