/** The fleet at a glance: a card for each region and type, a cell for each worker that fills with what it runs. */
import { Meter } from "~/components/Facts";
import { classes } from "~/lib/classes";
import { plural, safeText } from "~/lib/text";
import { type Group, HEALTH, healthOf, type Worker } from "./fleet";
import styles from "./Workers.module.css";

const MOST_CELLS = 120;

interface GroupsProps {
  groups: readonly Group[];
  /** There are workers beyond those that are known. */
  more: boolean;
  chosen: string | null;
  onChoose: (id: string | null) => void;
}

export function Groups({ groups, more, chosen, onChoose }: GroupsProps) {
  return (
    <section className={styles.groups} aria-label="Groups by region and type">
      {groups.map((group) => (
        <button
          key={group.id}
          type="button"
          className={styles.group}
          aria-pressed={group.id === chosen}
          onClick={() => onChoose(group.id === chosen ? null : group.id)}
        >
          <span className={styles.groupHead}>
            <b>{placeOf(group) || (groups.length === 1 ? "All workers" : "No region or type")}</b>
            <small>
              {more && "at least "}
              {plural(group.workers.length, "worker")}
            </small>
          </span>
          <span className={styles.cells} aria-hidden="true">
            {group.workers.slice(0, MOST_CELLS).map((worker) => (
              <Cell key={worker.id} worker={worker} />
            ))}
            {group.workers.length > MOST_CELLS && <small>+{group.workers.length - MOST_CELLS}</small>}
          </span>
          <Meter label="Slots in use" value={group.running} most={group.slots} />
          <span className={styles.groupFoot}>
            <span>
              {group.running} of {plural(group.slots, "slot")} in use
            </span>
            {group.troubled > 0 && <span className={styles.trouble}>{group.troubled} unhealthy</span>}
          </span>
        </button>
      ))}
    </section>
  );
}

/** What they say of themselves. */
function placeOf({ region, kind }: Group): string {
  return [region, kind]
    .filter((part) => part !== null)
    .map(safeText)
    .join(" · ");
}

function Cell({ worker }: { worker: Worker }) {
  const health = healthOf(worker);
  const full = worker.slots > 0 ? Math.min(1, worker.running / worker.slots) : 0;
  return (
    <span
      className={classes(styles.cell, styles[health], worker.state === "draining" && styles.draining)}
      style={{ "--full": `${full * 100}%` } as React.CSSProperties}
      title={`${safeText(worker.name)}: ${HEALTH[health].label}, ${worker.running} of ${worker.slots} slots`}
    />
  );
}
