import { Fields, TextArea, TextField } from "~/components/Field";
import { Panel } from "~/components/Page";
import type { Part } from "./Editor";
import styles from "./editor.module.css";
import type { JobForm } from "./jobForm";

/** Options of every job it makes, as in a submit. */
export function JobFields({ form, set, error }: Part) {
  const put = (change: Partial<JobForm>) => set({ job: { ...form.job, ...change } });
  const { job } = form;
  return (
    <Panel title="Its jobs" note="left empty: as the task says">
      <div className={styles.stack}>
        <Fields columns={3}>
          <TextField
            label="Queue"
            value={job.queue}
            error={error("job.queue")}
            onChange={(queue) => put({ queue })}
          />
          <TextField
            label="Priority"
            inputMode="numeric"
            value={job.priority}
            error={error("job.priority")}
            onChange={(priority) => put({ priority })}
          />
          <TextField
            label="Attempts at most"
            inputMode="numeric"
            value={job.max_attempts}
            error={error("job.max_attempts")}
            onChange={(max_attempts) => put({ max_attempts })}
          />
          <TextField
            label="Timeout"
            mono
            value={job.timeout}
            placeholder="30s"
            error={error("job.timeout")}
            onChange={(timeout) => put({ timeout })}
          />
          <TextField
            label="Expires after"
            mono
            value={job.expires_in}
            placeholder="1h"
            error={error("job.expires_in")}
            onChange={(expires_in) => put({ expires_in })}
          />
        </Fields>
        <Fields columns={2}>
          <TextArea
            label="Labels"
            mono
            rows={3}
            placeholder="team=finance"
            value={job.labels}
            error={error("job.labels")}
            onChange={(labels) => put({ labels })}
          />
          <TextArea
            label="Further options as JSON"
            mono
            rows={3}
            placeholder={'{"requires": {"labels": {"gpu": "yes"}}}'}
            value={job.other}
            error={error("job.other")}
            onChange={(other) => put({ other })}
          />
        </Fields>
      </div>
    </Panel>
  );
}
