import { useState } from "react";
import { useLocation } from "wouter";
import { useAction } from "~/api/hooks";
import type { Job } from "~/api/types";
import { Button } from "~/components/Button";
import { Drawer } from "~/components/Dialog";
import { Fields, TextArea, TextField } from "~/components/Field";
import { ErrorNote } from "~/components/Note";
import { curl } from "~/lib/shell";
import { useHref } from "~/shell/navigation";
import { type ChangeForm, type Changes, changeArguments, formOf, readChanges } from "./changes";
import { Equivalent } from "./Equivalent";
import styles from "./Job.module.css";

type Kind = "edit" | "retry" | "clone";

const WORDS: Record<Kind, { title: string; confirm: string; about: string; command: string }> = {
  edit: {
    title: "Edit this job",
    confirm: "Save",
    about: "It can be changed as long as it has not started.",
    command: "change",
  },
  retry: {
    title: "Retry this job",
    confirm: "Retry",
    about: "It runs again as the same job, with its attempts so far before it.",
    command: "retry",
  },
  clone: {
    title: "Clone this job",
    confirm: "Submit the clone",
    about: "A new job like this one; what you change here is different.",
    command: "clone",
  },
};

interface ChangeDialogProps {
  job: Job;
  kind: Kind;
  onClose: () => void;
}

/** The fields of the job, to be varied. Only what was changed is sent. */
export function ChangeDialog({ job, kind, onClose }: ChangeDialogProps) {
  const words = WORDS[kind];
  const [form, setForm] = useState(() => formOf(job));
  const read = readChanges(form, job);
  const changes = "changes" in read ? read.changes : undefined;
  const action = useDeed(kind, job, onClose);
  const nothing = kind === "edit" && changes !== undefined && Object.keys(changes).length === 0;
  return (
    <Drawer
      title={words.title}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            kind="primary"
            busy={action.running}
            disabled={changes === undefined || nothing}
            onClick={() => changes && void action.run(changes)}
          >
            {words.confirm}
          </Button>
        </>
      }
    >
      <p className={styles.quiet}>{words.about}</p>
      <FormFields form={form} onChange={setForm} wrong={"field" in read ? read : undefined} />
      {action.error && <ErrorNote error={action.error} />}
      {changes && (
        <Equivalent
          cli={["horae", words.command, job.id, ...changeArguments(changes)]}
          curl={curl(
            kind === "edit" ? "PATCH" : "POST",
            `/v1/jobs/${job.id}${kind === "edit" ? "" : `/${kind}`}`,
            changes,
          )}
        />
      )}
    </Drawer>
  );
}

interface FormProps {
  form: ChangeForm;
  onChange: (form: ChangeForm) => void;
  wrong: { field: keyof ChangeForm; problem: string } | undefined;
}

function FormFields({ form, onChange, wrong }: FormProps) {
  const field = (name: keyof ChangeForm) => ({
    value: form[name],
    error: wrong?.field === name ? wrong.problem : undefined,
    onChange: (value: string) => onChange({ ...form, [name]: value }),
  });
  return (
    <Fields>
      <TextArea
        label="Params"
        mono
        rows={Math.min(18, form.params.split("\n").length + 1)}
        {...field("params")}
      />
      <Fields columns={2}>
        <TextField label="Priority" type="number" min={1} max={10} {...field("priority")} />
        <TextField label="Queue" {...field("queue")} />
        <TextField
          label="Run in"
          placeholder="unchanged"
          hint="From now: 0s, 90s, 10m, 1h30m"
          {...field("delay")}
        />
        <TextField label="Timeout" placeholder="as the task says" hint="30s, 10m, 2h" {...field("timeout")} />
        <TextField label="Attempts at most" type="number" min={1} max={1000} {...field("maxAttempts")} />
      </Fields>
      <TextArea label="Labels" mono rows={3} placeholder="name=value, one a line" {...field("labels")} />
    </Fields>
  );
}

function useDeed(kind: Kind, job: Job, onClose: () => void) {
  const [, go] = useLocation();
  const href = useHref();
  const options = { toastErrors: false } as const;
  const edit = useAction("patch", "/v1/jobs/{job_id}", { ...options, done: "Job changed", onDone: onClose });
  const retry = useAction("post", "/v1/jobs/{job_id}/retry", {
    ...options,
    done: "The job runs again",
    onDone: onClose,
  });
  const clone = useAction("post", "/v1/jobs/{job_id}/clone", {
    ...options,
    done: "Clone submitted",
    onDone: (made) => {
      onClose();
      go(href(`/jobs/${made.id}`));
    },
  });
  const chosen = { edit, retry, clone }[kind];
  return {
    running: chosen.running,
    error: chosen.error,
    run: (body: Changes) => chosen.run({ path: { job_id: job.id }, body }),
  };
}
