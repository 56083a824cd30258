import { useState } from "react";
import { call } from "~/api/call";
import { client } from "~/api/client";
import { useMay } from "~/api/session";
import { Button } from "~/components/Button";
import { Confirm } from "~/components/Dialog";
import { Empty } from "~/components/Note";
import { Table } from "~/components/Table";
import { toast } from "~/components/Toast";
import { plural, safeText } from "~/lib/text";
import styles from "./collisions.module.css";
import type { Forecast } from "./types";

const WHY = "spread the load, as the forecast proposed";

/** Other rules for schedules that collide: the same but for the minute, which their names choose. */
export function Spread({ forecast, tenant }: { forecast: Forecast | undefined; tenant: string }) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState(false);
  const mayWrite = useMay("schedules:write");
  const proposals = forecast?.proposals ?? [];
  const chosen = proposals.filter((each) => !left.has(each.schedule));
  const selected = new Set(chosen.map((each) => each.schedule));
  const select = (now: ReadonlySet<string>) =>
    setLeft(new Set(proposals.map((each) => each.schedule).filter((name) => !now.has(name))));
  return (
    <>
      <Table
        label="Proposals"
        rows={forecast?.proposals}
        rowKey={(row) => row.schedule}
        rowName={(row) => safeText(row.schedule)}
        selection={mayWrite ? { selected, onChange: select } : undefined}
        columns={[
          { id: "schedule", head: "Schedule", grow: true, cell: (row) => safeText(row.schedule) },
          { id: "now", head: "Now", cell: (row) => <code>{safeText(row.instead)}</code> },
          { id: "better", head: "Better", cell: (row) => <code>{safeText(row.cron)}</code> },
        ]}
        empty={
          <Empty title="Nothing to propose" icon="check">
            Other minutes would not make the fullest one emptier.
          </Empty>
        }
      />
      {forecast && proposals.length > 0 && (
        <div className={styles.apply}>
          <span>
            With all of them at most {plural(forecast.peak_spread, "tick")} in one minute, instead of{" "}
            {forecast.peak}.
          </span>
          {mayWrite && (
            <Button kind="primary" small disabled={chosen.length === 0} onClick={() => setAsking(true)}>
              Change {plural(chosen.length, "schedule")}
            </Button>
          )}
        </div>
      )}
      {asking && <SpreadDialog chosen={chosen} tenant={tenant} onClose={() => setAsking(false)} />}
    </>
  );
}

interface SpreadDialogProps {
  chosen: Forecast["proposals"];
  tenant: string;
  onClose: () => void;
}

function SpreadDialog({ chosen, tenant, onClose }: SpreadDialogProps) {
  const [busy, setBusy] = useState(false);
  const change = async () => {
    setBusy(true);
    let done = 0;
    try {
      for (const { schedule, cron } of chosen) {
        const body = { set: { cron } as never, why: WHY };
        await call("patch", "/v1/schedules/{name}", { path: { name: schedule }, query: { tenant }, body });
        done += 1;
      }
      toast.done(`${plural(done, "schedule")} changed`);
    } catch (error) {
      toast.error(error);
    }
    onClose();
    void client.invalidateQueries();
  };
  return (
    <Confirm
      title={`Change ${plural(chosen.length, "schedule")}`}
      open
      onClose={onClose}
      confirm="Change"
      busy={busy}
      onConfirm={() => void change()}
    >
      <p>
        Each gets a minute of the hour that its name chooses, always the same; all else stays. Its history
        notes why, and any of them can be changed back.
      </p>
    </Confirm>
  );
}
