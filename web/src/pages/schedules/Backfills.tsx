import { useState } from "react";
import { useAction, useApi } from "~/api/hooks";
import { useMay } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button } from "~/components/Button";
import { Meter } from "~/components/Facts";
import { Empty, ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Table } from "~/components/Table";
import { Unseen } from "~/components/Text";
import { Time } from "~/components/Time";
import { formatCount, safeText } from "~/lib/text";
import { BackfillDialog } from "./BackfillDialog";
import styles from "./schedules.module.css";
import type { Backfill, Schedule } from "./types";
import { formatWall } from "./zones";

const TONES: Record<string, "accent" | "good" | "neutral"> = {
  running: "accent",
  done: "good",
  cancelled: "neutral",
};

/** Ranges of the past that were run again, and how far they are. */
export function Backfills({ schedule }: { schedule: Schedule }) {
  const [making, setMaking] = useState(false);
  const mayWrite = useMay("schedules:write");
  const { name, tz = "UTC" } = schedule.definition;
  const found = useApi("/v1/schedules/{name}/backfills", {
    path: { name },
    query: { tenant: schedule.tenant },
    live: true,
    every: 10,
  });
  const cancel = useAction("delete", "/v1/schedules/{name}/backfills/{backfill}", {
    done: "Backfill cancelled",
  });
  const stop = (row: Backfill) =>
    void cancel.run({ path: { name, backfill: row.id ?? 0 }, query: { tenant: schedule.tenant } });
  return (
    <div className={styles.stack}>
      {found.error && <ErrorNote error={found.error} retry={() => void found.refetch()} />}
      <Panel
        title="Backfills"
        flush
        actions={
          mayWrite && (
            <Button small icon="plus" onClick={() => setMaking(true)}>
              New backfill
            </Button>
          )
        }
      >
        <Table
          label="Backfills"
          rows={found.data?.items}
          failed={found.error !== null}
          rowKey={(row) => String(row.id)}
          columns={[
            {
              id: "range",
              head: `From, to (${tz})`,
              cell: (row) => (
                <span className={styles.wall}>
                  {formatWall(new Date(row.since), tz)} – {formatWall(new Date(row.until), tz)}
                </span>
              ),
            },
            { id: "state", head: "State", cell: (row) => <Badge tone={TONES[row.state]}>{row.state}</Badge> },
            { id: "progress", head: "Progress", cell: (row) => <Progress row={row} /> },
            {
              id: "made",
              head: "Started",
              wide: true,
              cell: (row) => (
                <>
                  <Time at={row.made_at} /> by {safeText(row.made_by ?? "")}
                </>
              ),
            },
            {
              id: "cancel",
              head: <Unseen>Actions</Unseen>,
              align: "end",
              cell: (row) =>
                mayWrite &&
                row.state === "running" && (
                  <Button small busy={cancel.running} onClick={() => stop(row)}>
                    Cancel
                  </Button>
                ),
            },
          ]}
          empty={
            <Empty title="No backfills yet" icon="retry">
              A backfill runs the ticks of a past range that have not succeeded, so many at a time.
            </Empty>
          }
        />
      </Panel>
      {making && <BackfillDialog schedule={schedule} onClose={() => setMaking(false)} />}
    </div>
  );
}

function Progress({ row }: { row: Backfill }) {
  const [ended, succeeded] = [row.ended ?? 0, row.succeeded ?? 0];
  const failed = ended - succeeded;
  return (
    <span className={styles.progress}>
      <Meter label="Progress" value={ended} most={row.total} tone={failed > 0 ? "warn" : "good"} />
      <span>
        {formatCount(ended)} of {formatCount(row.total)}
        {failed > 0 && `, ${formatCount(failed)} not succeeded`}
        {(row.skipped ?? 0) > 0 && `, ${formatCount(row.skipped ?? 0)} left out`}
      </span>
    </span>
  );
}
