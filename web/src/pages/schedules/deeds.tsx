/** What can be done to a schedule, each behind a window that says what will happen. */
import { useState } from "react";
import { useLocation } from "wouter";
import { useAction, useApi } from "~/api/hooks";
import { Button } from "~/components/Button";
import { Confirm, Dialog } from "~/components/Dialog";
import { Checkbox, TextField } from "~/components/Field";
import { toast } from "~/components/Toast";
import { safeText } from "~/lib/text";
import { finished, serverFaults } from "~/params/draft";
import { ParamsEditor, paramFaults } from "~/params/ParamsEditor";
import type { Draft } from "~/params/shape";
import { useHref } from "~/shell/navigation";
import styles from "./schedules.module.css";
import type { Schedule } from "./types";

export type Deed = "pause" | "resume" | "trigger" | "delete";

interface DeedProps {
  schedule: Schedule;
  onClose: () => void;
}

/** The window of the deed that is asked for; none for null. */
export function DeedDialog({ deed, schedule, onClose }: DeedProps & { deed: Deed | null }) {
  if (deed === null) return null;
  if (deed === "trigger") return <TriggerDialog schedule={schedule} onClose={onClose} />;
  if (deed === "delete") return <DeleteDialog schedule={schedule} onClose={onClose} />;
  return <RestDialog deed={deed} schedule={schedule} onClose={onClose} />;
}

function of(schedule: Schedule) {
  return { path: { name: schedule.definition.name }, query: { tenant: schedule.tenant } };
}

function RestDialog({ deed, schedule, onClose }: DeedProps & { deed: "pause" | "resume" }) {
  const [why, setWhy] = useState("");
  const name = safeText(schedule.definition.name);
  const pauses = deed === "pause";
  const action = useAction("post", pauses ? "/v1/schedules/{name}/pause" : "/v1/schedules/{name}/resume", {
    done: pauses ? `${name} rests` : `${name} goes on`,
    onDone: onClose,
  });
  return (
    <Confirm
      title={pauses ? `Pause ${name}` : `Resume ${name}`}
      open
      onClose={onClose}
      confirm={pauses ? "Pause" : "Resume"}
      busy={action.running}
      onConfirm={() => void action.run({ ...of(schedule), body: { why } })}
    >
      <div className={styles.stack}>
        <p>
          {pauses
            ? "Ticks that have not started are taken back; what runs goes on. Ticks that fall into the pause count as missed."
            : "Ticks that fell into the pause are treated as missed ones, by the schedule's own rule."}
        </p>
        <TextField label="Why" hint="For the history; may be left out." value={why} onChange={setWhy} />
      </div>
    </Confirm>
  );
}

function DeleteDialog({ schedule, onClose }: DeedProps) {
  const [why, setWhy] = useState("");
  const [, go] = useLocation();
  const href = useHref();
  const { name } = schedule.definition;
  const action = useAction("delete", "/v1/schedules/{name}", {
    done: `${safeText(name)} is deleted`,
    onDone: () => go(href("/schedules")),
  });
  return (
    <Confirm
      title={`Delete ${safeText(name)}`}
      open
      onClose={onClose}
      confirm="Delete"
      danger
      typed={name}
      busy={action.running}
      onConfirm={() => void action.run({ ...of(schedule), body: { why } })}
    >
      <div className={styles.stack}>
        <p>
          Jobs that have not started are taken back, backfills end, what runs goes on. The history is kept.
        </p>
        <TextField label="Why" hint="For the history; may be left out." value={why} onChange={setWhy} />
      </div>
    </Confirm>
  );
}

/** Runs the job now, with the schedule's params or others. */
function TriggerDialog({ schedule, onClose }: DeedProps) {
  const { name, task, params } = schedule.definition;
  const [other, setOther] = useState(false);
  const [draft, setDraft] = useState<Draft>((params ?? {}) as Draft);
  const schema = useApi("/v1/tasks/{name}", { path: { name: task }, query: { tenant: schedule.tenant } }).data
    ?.definition.params_schema;
  const [, go] = useLocation();
  const href = useHref();
  const action = useAction("post", "/v1/schedules/{name}/trigger", {
    toastErrors: false,
    onDone: (answer) => {
      toast.done(`${safeText(name)} runs now`, {
        label: "Open the job",
        onClick: () => go(href(`/jobs/${answer.job_id}`)),
      });
      onClose();
    },
  });
  const own = other ? paramFaults(schema, draft) : [];
  const faults = [...own, ...serverFaults(action.error?.problem.errors)];
  const run = () =>
    void action.run({ ...of(schedule), body: other ? { params: finished(draft) as never } : {} });
  return (
    <Dialog
      title={`Run ${safeText(name)} now`}
      open
      wide={other}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" icon="play" busy={action.running} disabled={own.length > 0} onClick={run}>
            Run now
          </Button>
        </>
      }
    >
      <div className={styles.stack}>
        <p>
          One job starts at once, whatever the rule, the overlap or a pause say. The rule goes on as before.
        </p>
        <Checkbox label="With other params" checked={other} onChange={setOther} />
        {other && <ParamsEditor schema={schema} value={draft} onChange={setDraft} faults={faults} />}
        {action.error && !action.error.problem.errors && <p role="alert">{safeText(action.error.message)}</p>}
      </div>
    </Dialog>
  );
}
