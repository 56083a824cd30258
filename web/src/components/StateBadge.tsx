import type { State } from "~/api/types";
import { classes } from "~/lib/classes";
import styles from "./StateBadge.module.css";

/** Each state has a shape of its own, so that colour never tells alone. 12 × 12. */
const GLYPHS: Record<State, string> = {
  scheduled: "M6 1.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6zM6 3.4V6l1.7 1.1",
  blocked: "M1.7 6h8.6M2.6 2.3v7.4M9.4 2.3v7.4",
  ready: "M3.6 2v8L10 6z",
  running:
    "M6 1.2a4.8 4.8 0 0 1 4.8 4.8M6 10.8A4.8 4.8 0 0 1 1.2 6M4.6 6a1.4 1.4 0 1 0 2.8 0 1.4 1.4 0 1 0-2.8 0",
  succeeded: "M2 6.4 4.9 9.2 10 3",
  failed: "M2.8 2.8l6.4 6.4M9.2 2.8 2.8 9.2",
  cancelled: "M6 1.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6zM3.8 6h4.4",
  expired: "M3 1.6h6M3 10.4h6M3.8 1.6c0 4 4.4 4.8 4.4 8.8M8.2 1.6c0 4-4.4 4.8-4.4 8.8",
  dropped: "M6 1.6v6M3.2 5 6 7.8 8.8 5M2.4 10.4h7.2",
};

export const STATES = Object.keys(GLYPHS) as State[];
export const PENDING_STATES: State[] = ["scheduled", "blocked", "ready"];
export const ENDED_STATES: State[] = ["succeeded", "failed", "cancelled", "expired", "dropped"];

export function StateGlyph({ state, size = 12 }: { state: State; size?: number }) {
  return (
    <svg
      className={classes(styles.glyph, styles[state])}
      width={size}
      height={size}
      viewBox="0 0 12 12"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={GLYPHS[state]} />
    </svg>
  );
}

/** The state of a job: glyph and word in its colour. `quiet` leaves the tinted ground out. */
export function StateBadge({ state, quiet = false }: { state: State; quiet?: boolean }) {
  return (
    <span className={classes(styles.badge, styles[state], quiet && styles.quiet)}>
      <StateGlyph state={state} />
      {state}
    </span>
  );
}
