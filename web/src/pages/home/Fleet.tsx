import { Link } from "wouter";
import type { Overview } from "~/api/types";
import { Badge } from "~/components/Badge";
import { ButtonLink } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Meter } from "~/components/Facts";
import { Empty } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { plural, safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import styles from "./Home.module.css";

const SHOWN = 6;

/** What runs where: the busiest workers and how full they are. */
export function Fleet({ overview }: { overview: Overview | undefined }) {
  const href = useHref();
  if (overview && !overview.workers) return null;
  const workers = overview?.workers ?? [];
  const total = overview?.workers_total ?? 0;
  return (
    <Panel
      title="Running per worker"
      note={overview && plural(total, "worker")}
      actions={
        <ButtonLink href={href("/workers")} kind="quiet" small>
          Workers
        </ButtonLink>
      }
    >
      {overview === undefined && <Skeleton height="8rem" />}
      {overview && total === 0 && (
        <Empty title="No worker is there" icon="workers">
          <p>Jobs wait until one joins:</p>
          <Command text="horae worker --app FILE.py:app" />
        </Empty>
      )}
      <ul className={styles.rows}>
        {workers.slice(0, SHOWN).map((worker) => (
          <li key={worker.id} className={styles.worker}>
            <Link href={href(`/workers/${worker.id}`)}>{safeText(worker.name)}</Link>
            {worker.state !== "active" && <Badge tone="warn">{worker.state}</Badge>}
            <span className={styles.figure}>
              {worker.running} of {plural(worker.slots, "slot")}
            </span>
            <Meter label={`Slots in use of ${worker.name}`} value={worker.running} most={worker.slots} />
          </li>
        ))}
      </ul>
      {total > SHOWN && <p className={styles.rest}>and {total - SHOWN} more</p>}
    </Panel>
  );
}
