import { Badge } from "~/components/Badge";
import { safeText } from "~/lib/text";
import styles from "./schedules.module.css";
import type { Tick } from "./types";
import { effectsOf, markWords } from "./words";

/** What clock changes, calendars and windows do to a tick: a word each; the title tells why. */
export function Marks({ tick, detail = false }: { tick: Tick; detail?: boolean }) {
  const codes = effectsOf(tick);
  if (codes.length === 0) return null;
  return (
    <span className={styles.marks}>
      {codes.map((code) => {
        const { label, tone } = markWords(code);
        return (
          <Badge key={code} tone={tone} title={tick.detail ? safeText(tick.detail) : undefined}>
            {label}
          </Badge>
        );
      })}
      {detail && tick.detail && <span className={styles.detail}>{safeText(tick.detail)}</span>}
    </span>
  );
}

const STATES: Record<string, "good" | "warn" | "neutral"> = {
  active: "good",
  paused: "warn",
  ended: "neutral",
};

export function ScheduleState({ state }: { state: string }) {
  return (
    <Badge tone={STATES[state] ?? "neutral"} dot>
      {state}
    </Badge>
  );
}
