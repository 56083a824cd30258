import { useState } from "react";
import { useAction } from "~/api/hooks";
import type { Job } from "~/api/types";
import { Confirm } from "~/components/Dialog";
import { Checkbox, Fields, TextField } from "~/components/Field";
import { ErrorNote } from "~/components/Note";
import { curl } from "~/lib/shell";
import { Equivalent } from "./Equivalent";

interface DialogProps {
  job: Job;
  onClose: () => void;
}

const path = (job: Job) => ({ job_id: job.id });

export function CancelDialog({ job, onClose }: DialogProps) {
  const [reason, setReason] = useState("");
  const cancel = useAction("delete", "/v1/jobs/{job_id}", {
    done: (answer) => (answer.state === "cancelled" ? "Job cancelled" : "The job was asked to stop"),
    toastErrors: false,
    onDone: onClose,
  });
  const query = reason ? `?${new URLSearchParams({ reason })}` : "";
  return (
    <Confirm
      title="Cancel this job"
      open
      onClose={onClose}
      confirm="Cancel the job"
      danger
      busy={cancel.running}
      onConfirm={() => void cancel.run({ path: path(job), query: { reason } })}
    >
      <Fields>
        <p>
          {job.state === "running"
            ? "It is asked to stop, and ends as cancelled when its processes are gone."
            : "It will not run. It can be retried later."}
        </p>
        <TextField
          label="Reason"
          value={reason}
          onChange={setReason}
          maxLength={500}
          placeholder="Why, for whoever looks later"
        />
        {cancel.error && <ErrorNote error={cancel.error} />}
        <Equivalent
          cli={["horae", "cancel", job.id, ...(reason ? ["--reason", reason] : [])]}
          curl={curl("DELETE", `/v1/jobs/${job.id}${query}`)}
        />
      </Fields>
    </Confirm>
  );
}

export function MoveDialog({ job, onClose }: DialogProps) {
  const [reason, setReason] = useState("");
  const [force, setForce] = useState(false);
  const move = useAction("post", "/v1/jobs/{job_id}/move", {
    done: "The job moves to another worker",
    toastErrors: false,
    onDone: onClose,
  });
  const body = { reason, force };
  return (
    <Confirm
      title="Move to another worker"
      open
      onClose={onClose}
      confirm="Move the job"
      busy={move.running}
      onConfirm={() => void move.run({ path: path(job), body })}
    >
      <Fields>
        <p>
          It stops where it runs, and goes on elsewhere from its last checkpoint. This costs it no attempt.
        </p>
        <TextField label="Reason" value={reason} onChange={setReason} maxLength={500} />
        <Checkbox label="Even if no other worker could run it now" checked={force} onChange={setForce} />
        {move.error && <ErrorNote error={move.error} />}
        <Equivalent
          cli={[
            "horae",
            "move",
            job.id,
            ...(reason ? ["--reason", reason] : []),
            ...(force ? ["--force"] : []),
          ]}
          curl={curl("POST", `/v1/jobs/${job.id}/move`, body)}
        />
      </Fields>
    </Confirm>
  );
}
