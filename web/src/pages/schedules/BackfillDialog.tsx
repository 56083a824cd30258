import { useState } from "react";
import { useAction } from "~/api/hooks";
import { Button } from "~/components/Button";
import { Dialog } from "~/components/Dialog";
import { Fields, TextField } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { Table } from "~/components/Table";
import { zone } from "~/lib/preferences";
import { useStored } from "~/lib/stored";
import { plural, safeText } from "~/lib/text";
import { fromInput, localZone, toInput } from "~/lib/time";
import styles from "./schedules.module.css";
import type { Backfill, Schedule } from "./types";
import { formatWall } from "./zones";

const DAY = 86_400_000;
const SHOWN = 200;

/** First what it would do, then the deed: only what was looked at can be started. */
export function BackfillDialog({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const [chosen] = useStored(zone);
  const [since, setSince] = useState(() => toInput(new Date(Date.now() - DAY), chosen));
  const [until, setUntil] = useState(() => toInput(new Date(), chosen));
  const [concurrency, setConcurrency] = useState("1");
  const [seen, setSeen] = useState<{ fields: string; plan: Backfill }>();
  const { name, tz = "UTC" } = schedule.definition;
  const look = useAction("post", "/v1/schedules/{name}/backfill", { toastErrors: false });
  const start = useAction("post", "/v1/schedules/{name}/backfill", {
    toastErrors: false,
    done: (made) => `The backfill of ${plural(made.total, "tick")} has begun`,
    onDone: onClose,
  });
  const range = {
    since: fromInput(since, chosen)?.toISOString(),
    until: fromInput(until, chosen)?.toISOString(),
  };
  const ready = range.since !== undefined && range.until !== undefined && Number(concurrency) >= 1;
  const asked = (dry: boolean) => ({
    path: { name },
    query: { tenant: schedule.tenant },
    body: {
      since: range.since ?? "",
      until: range.until ?? "",
      concurrency: Number(concurrency),
      dry_run: dry,
    },
  });
  const fields = JSON.stringify(asked(false).body);
  // An answer may come after the fields were changed: it is of the fields as they were.
  const plan = seen?.fields === fields ? seen.plan : null;
  const lookAt = async () => {
    const answer = await look.run(asked(true));
    if (answer) setSeen({ fields, plan: answer });
  };
  const where = chosen === "utc" ? "UTC" : localZone();
  return (
    <Dialog
      title={`Run past ticks of ${safeText(name)}`}
      open
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button disabled={!ready} busy={look.running} onClick={() => void lookAt()}>
            Look at it
          </Button>
          <Button
            kind="primary"
            disabled={plan === null || plan.total === 0}
            busy={start.running}
            onClick={() => void start.run(asked(false))}
          >
            {plan === null ? "Start" : `Start ${plural(plan.total, "run")}`}
          </Button>
        </>
      }
    >
      <div className={styles.stack}>
        <Fields columns={3}>
          <TextField label="From" type="datetime-local" hint={where} value={since} onChange={setSince} />
          <TextField
            label="To, not included"
            type="datetime-local"
            hint={where}
            value={until}
            onChange={setUntil}
          />
          <TextField
            label="At once"
            type="number"
            min={1}
            hint="How many of its jobs may be under way."
            value={concurrency}
            onChange={setConcurrency}
          />
        </Fields>
        {(look.error ?? start.error) && <ErrorNote error={look.error ?? start.error} />}
        {plan ? (
          <Plan plan={plan} tz={tz} />
        ) : (
          <Note>Look at it first: this shows every tick, and which are left out.</Note>
        )}
      </div>
    </Dialog>
  );
}

function Plan({ plan, tz }: { plan: Backfill; tz: string }) {
  const ticks = plan.ticks ?? [];
  return (
    <>
      <p>
        {plural(plan.total, "tick")} would run, {plan.skipped ?? 0} left out.
      </p>
      <Table
        label="What the backfill would do"
        rows={ticks.slice(0, SHOWN)}
        rowKey={(tick) => tick.at}
        columns={[
          {
            id: "at",
            head: tz,
            cell: (tick) => <span className={styles.wall}>{formatWall(new Date(tick.at), tz)}</span>,
          },
          { id: "runs", head: "Runs", cell: (tick) => (tick.runs ? "yes" : "left out") },
          { id: "why", head: "Why", grow: true, cell: (tick) => safeText(tick.why ?? "") },
        ]}
        empty={<p>The rule has no ticks in this range.</p>}
      />
      {ticks.length > SHOWN && <p>… and {ticks.length - SHOWN} more.</p>}
    </>
  );
}
