import { useClock } from "~/lib/clock";
import { zone } from "~/lib/preferences";
import { useStored } from "~/lib/stored";
import { bothInstants, formatDuration, formatInstant, formatRelative } from "~/lib/time";
import styles from "./Time.module.css";

interface TimeProps {
  at: string | null | undefined;
  /** "relative" (4 min ago), "exact" (2026-11-16 07:05:21) or both, one after the other. */
  show?: "relative" | "exact" | "both";
}

/** An instant; its title has it in the local zone and in UTC. Nothing is shown as a dash. */
export function Time({ at, show = "relative" }: TimeProps) {
  const [chosen] = useStored(zone);
  const relative = useClock((now) => (at ? formatRelative(new Date(at), now) : ""));
  if (!at) return <span className={styles.none}>–</span>;
  const instant = new Date(at);
  const exact = formatInstant(instant, chosen);
  return (
    <time className={styles.time} dateTime={at} title={bothInstants(instant)}>
      {show === "relative" ? relative : show === "exact" ? exact : `${exact} · ${relative}`}
    </time>
  );
}

/** A length of time in seconds; with `since`, one that still runs. */
export function Duration({ seconds, since, until }: DurationProps) {
  const start = since ? Date.parse(since) : undefined;
  const running = useClock((now) =>
    start === undefined || until ? -1 : Math.max(0, Math.floor((now.getTime() - start) / 1000)),
  );
  const length = start === undefined ? seconds : until ? (Date.parse(until) - start) / 1000 : running;
  if (length === undefined || length === null) return <span className={styles.none}>–</span>;
  return <span className={styles.time}>{formatDuration(length)}</span>;
}

interface DurationProps {
  seconds?: number | null;
  since?: string | null;
  until?: string | null;
}
