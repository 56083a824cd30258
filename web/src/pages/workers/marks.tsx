/** Small marks about a worker: its health, its state, how full it is. */
import { Badge } from "~/components/Badge";
import { Meter } from "~/components/Facts";
import { formatPercent } from "~/lib/text";
import { HEALTH, healthOf, type Worker } from "./fleet";
import styles from "./Workers.module.css";

export function HealthBadge({ worker }: { worker: Worker }) {
  const { label, tone, why } = HEALTH[healthOf(worker)];
  return (
    <Badge tone={tone} dot title={why}>
      {label}
    </Badge>
  );
}

const STATE_TONES = { active: "neutral", draining: "info", left: "neutral", lost: "danger" } as const;

export function WorkerState({ worker }: { worker: Worker }) {
  const steered = worker.steered_by
    ? `by ${worker.steered_by}${worker.steer_reason ? `: ${worker.steer_reason}` : ""}`
    : undefined;
  const tone = STATE_TONES[worker.state as keyof typeof STATE_TONES] ?? "neutral";
  return (
    <Badge tone={tone} title={steered}>
      {worker.state === "draining" && worker.steer_until ? "maintenance" : worker.state}
    </Badge>
  );
}

export function SlotUse({ running, slots, label }: { running: number; slots: number; label: string }) {
  return (
    <span className={styles.use}>
      <Meter
        label={label}
        value={running}
        most={slots}
        tone={running >= slots && slots > 0 ? "good" : "accent"}
      />
      <span>
        {running}/{slots}
      </span>
    </span>
  );
}

/** How much of a host is in use; marked where it is nearly all. */
export function Share({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <span className={styles.faint}>–</span>;
  return <span className={value > BUSY ? styles.warned : undefined}>{formatPercent(value)}</span>;
}

const BUSY = 0.95;
