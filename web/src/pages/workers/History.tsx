/** What happened to a worker, and to the one of its name and host before it. */
import type { Schemas } from "~/api/types";
import { Icon, type IconName } from "~/components/Icon";
import { Time } from "~/components/Time";
import { plural, safeText } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import styles from "./Workers.module.css";

type Event = Schemas["WorkerEvent"];

interface Look {
  label: string;
  icon: IconName;
  tone?: "bad" | "warned" | "fine";
}

const LOOKS: Record<string, Look> = {
  joined: { label: "Joined", icon: "plus", tone: "fine" },
  late: { label: "Late", icon: "clock", tone: "warned" },
  drained: { label: "Drained", icon: "pause" },
  resumed: { label: "Resumed", icon: "play", tone: "fine" },
  probation: { label: "On probation", icon: "warn", tone: "warned" },
  trusted: { label: "Trusted again", icon: "check", tone: "fine" },
  left: { label: "Left", icon: "out" },
  lost: { label: "Lost", icon: "warn", tone: "bad" },
};

export function History({ events, worker }: { events: readonly Event[]; worker: number }) {
  return (
    <ol className={styles.history} aria-label="Health history">
      {events.map((event) => {
        const look = LOOKS[event.event] ?? { label: event.event, icon: "info" as const };
        return (
          <li key={`${event.worker_id} ${event.at} ${event.event}`} className={styles.event}>
            <span className={look.tone && styles[look.tone]}>
              <Icon name={look.icon} size={14} />
            </span>
            <b>{look.label}</b>
            <span>
              {told(event)}
              {event.worker_id !== worker && ` as worker ${event.worker_id}`}
            </span>
            <Time at={event.at} />
          </li>
        );
      })}
    </ol>
  );
}

function told(event: Event): string {
  if (event.event === "late") {
    const silence = formatDuration(event.seconds ?? 0);
    return `${plural(event.times ?? 1, "heartbeat")} in ten minutes, the longest silence ${silence}`;
  }
  if (event.event === "probation") return "its jobs kept failing while the same tasks do well elsewhere";
  if (event.event === "lost") return "its lease ended: its jobs went to others";
  const said = [
    event.who && `by ${safeText(event.who)}`,
    event.reason && safeText(event.reason),
    event.seconds && `for ${formatDuration(event.seconds)}`,
  ];
  return said.filter(Boolean).join(", ");
}
