import { useApi } from "~/api/hooks";
import { Stat, Stats } from "~/components/Facts";
import { Panel } from "~/components/Page";
import { formatCount, formatPercent } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import { LATE_SECONDS, summarise } from "./lateness";
import { Punctuality } from "./Punctuality";
import styles from "./schedules.module.css";
import type { LatestTick, Schedule, TickRecord } from "./types";

const TICKS = 60;

/** How punctual the last ticks of the rule were. */
export function LatePanel({ schedule }: { schedule: Schedule }) {
  const { name, jitter } = schedule.definition;
  const ticks = useApi("/v1/schedules/{name}/ticks", {
    path: { name },
    query: { tenant: schedule.tenant, limit: TICKS, due: true },
    live: 5,
    every: 30,
  });
  const latest = ticks.data?.items
    .filter((tick) => tick.origin === "rule")
    .map((tick) => latestOf(tick, Boolean(jitter)))
    .reverse();
  const found = latest && summarise(latest);
  const value = (seconds: number | null | undefined) =>
    seconds === undefined ? undefined : seconds === null ? "–" : formatDuration(seconds);
  return (
    <Panel title="Punctuality" note={found?.ticks ? `the last ${formatCount(found.ticks)} ticks` : undefined}>
      <div className={styles.stack}>
        <div className={styles.figure}>
          <Punctuality ticks={latest ?? []} room={TICKS} width={600} height={72} />
        </div>
        <Stats label="Punctuality of the last ticks">
          <Stat
            label="On time"
            value={found && (found.started === 0 ? "–" : formatPercent(1 - found.late / found.started))}
            note={`started within ${LATE_SECONDS} s`}
          />
          <Stat
            label="Late, median"
            value={value(found?.median)}
            note={typeof found?.worst === "number" ? `${formatDuration(found.worst)} at worst` : undefined}
          />
          <Stat
            label="Failed"
            value={found && formatCount(found.failed)}
            tone={found?.failed ? "danger" : undefined}
            note={found && `${formatCount(found.skipped)} skipped`}
          />
        </Stats>
      </div>
    </Panel>
  );
}

/** As the list of schedules tells it. */
export function latestOf(tick: TickRecord, jitters: boolean): LatestTick {
  const due = Date.parse(jitters ? tick.run_at : tick.at);
  return {
    at: tick.at,
    state: tick.job_state ?? tick.state,
    late: tick.started_at ? Math.max(0, Date.parse(tick.started_at) - due) / 1000 : null,
    reason: tick.reason,
    count: tick.count,
  };
}
