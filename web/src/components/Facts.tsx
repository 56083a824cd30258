import type { ReactNode } from "react";
import { Link } from "wouter";
import { classes } from "~/lib/classes";
import styles from "./Facts.module.css";
import { Skeleton } from "./Skeleton";

/** Names and values of one thing, in columns where there is room. Entries with nothing are left out. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode] | null | false)[] }) {
  return (
    <dl className={styles.facts}>
      {items.map(
        (item) =>
          item && (
            <div key={item[0]} className={styles.fact}>
              <dt>{item[0]}</dt>
              <dd>{item[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

interface StatProps {
  label: string;
  /** Before the label: the glyph of a state. */
  mark?: ReactNode;
  /** Undefined while it loads. */
  value: ReactNode | undefined;
  unit?: string;
  /** One short line below. */
  note?: ReactNode;
  tone?: "danger" | "warn" | "good";
  href?: string;
  title?: string;
}

/** One figure, large. */
export function Stat({ label, mark, value, unit, note, tone, href, title }: StatProps) {
  const inner = (
    <>
      <span className={styles.statLabel}>
        {mark}
        {label}
      </span>
      <span className={classes(styles.statValue, tone && styles[tone])} title={title}>
        {value === undefined ? <Skeleton width="4rem" height="1.5rem" /> : value}
        {unit && value !== undefined && <small>{unit}</small>}
      </span>
      <span className={styles.statNote}>{note ?? "\u00a0"}</span>
    </>
  );
  return href ? (
    <Link href={href} className={classes(styles.stat, styles.statLink)}>
      {inner}
    </Link>
  ) : (
    <div className={styles.stat}>{inner}</div>
  );
}

/** Figures in a row, divided by hairlines. */
export function Stats({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section className={styles.stats} aria-label={label}>
      {children}
    </section>
  );
}

interface MeterProps {
  label: string;
  value: number;
  most: number;
  tone?: "accent" | "good" | "warn" | "danger";
}

/** How much of something is used: a bar; write the figures beside it. */
export function Meter({ label, value, most, tone = "accent" }: MeterProps) {
  const share = most > 0 ? Math.min(1, value / most) : 0;
  return (
    <span
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={most}
      aria-valuenow={Math.min(value, most)}
      className={styles.meter}
    >
      <span className={classes(styles.fill, styles[`fill-${tone}`])} style={{ width: `${share * 100}%` }} />
    </span>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd className={styles.kbd}>{children}</kbd>;
}
