import { useApi } from "~/api/hooks";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import styles from "./schedules.module.css";
import { TickTable } from "./TickTable";
import type { Schedule } from "./types";
import { effectsOf } from "./words";

const SHOWN = 20;
/** A year of a daily rule: all its clock changes and holidays are among them. */
export const AHEAD = 366;

export function NextTicks({ schedule }: { schedule: Schedule }) {
  const { name, tz = "UTC" } = schedule.definition;
  const preview = useApi("/v1/schedules/{name}/preview", {
    path: { name },
    query: { tenant: schedule.tenant, count: AHEAD },
    every: 15,
  });
  if (preview.error) return <ErrorNote error={preview.error} retry={() => void preview.refetch()} />;
  const ticks = preview.data?.items;
  const later = ticks?.slice(SHOWN).filter((tick) => effectsOf(tick).length > 0) ?? [];
  return (
    <div className={styles.stack}>
      {schedule.state === "paused" && (
        <Note tone="warn">It is paused: these ticks come only if it goes on.</Note>
      )}
      <Panel title="The next ticks" flush>
        <TickTable
          label="The next ticks"
          ticks={ticks?.slice(0, SHOWN)}
          tz={tz}
          empty={
            <Empty title="No more ticks" icon="schedules">
              The rule has come to its end.
            </Empty>
          }
        />
      </Panel>
      {later.length > 0 && (
        <Panel title="Further on" note="clock changes, holidays and windows" flush>
          <TickTable label="Effects further on" ticks={later.slice(0, SHOWN)} tz={tz} />
        </Panel>
      )}
    </div>
  );
}
