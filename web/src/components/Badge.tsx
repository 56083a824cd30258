import type { ReactNode } from "react";
import { classes } from "~/lib/classes";
import styles from "./Badge.module.css";

export type Tone = "neutral" | "accent" | "good" | "warn" | "danger" | "info";

/** A short word about something; for states of jobs there is StateBadge. `dot` sets a mark before it. */
export function Badge({ tone = "neutral", dot = false, title, children }: BadgeProps) {
  return (
    <span className={classes(styles.badge, styles[tone])} title={title}>
      {dot && <span className={styles.dot} aria-hidden="true" />}
      {children}
    </span>
  );
}

interface BadgeProps {
  tone?: Tone;
  dot?: boolean;
  title?: string;
  children: ReactNode;
}
