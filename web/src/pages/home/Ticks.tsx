import { Link } from "wouter";
import type { Overview } from "~/api/types";
import { ButtonLink } from "~/components/Button";
import { Empty } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { Time } from "~/components/Time";
import { safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import styles from "./Home.module.css";

const SHOWN = 6;

/** What the schedules will submit next. */
export function Ticks({ overview }: { overview: Overview | undefined }) {
  const href = useHref();
  if (overview && !overview.ticks) return null;
  return (
    <Panel
      title="Next ticks"
      actions={
        <ButtonLink href={href("/schedules")} kind="quiet" small>
          Schedules
        </ButtonLink>
      }
    >
      {overview === undefined && <Skeleton height="8rem" />}
      {overview?.ticks.length === 0 && (
        <Empty title="No schedule is due" icon="schedules">
          A schedule submits a job again and again, by the clock or by a calendar.
        </Empty>
      )}
      <ul className={styles.rows}>
        {overview?.ticks.slice(0, SHOWN).map((tick) => (
          <li key={`${tick.tenant} ${tick.schedule} ${tick.at}`} className={styles.tick}>
            <Link href={href(`/schedules/${encodeURIComponent(tick.schedule)}`, { tenant: tick.tenant })}>
              {safeText(tick.schedule)}
            </Link>
            <span className={styles.quiet}>{safeText(tick.task)}</span>
            <span className={styles.figure}>
              <Time at={tick.at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
