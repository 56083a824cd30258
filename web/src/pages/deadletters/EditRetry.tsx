import { useState } from "react";
import { useAction, useApi } from "~/api/hooks";
import type { Job } from "~/api/types";
import { Button } from "~/components/Button";
import { ErrorNote } from "~/components/Note";
import { toast } from "~/components/Toast";
import { type Fault, finished, serverFaults } from "~/params/draft";
import { INEXACT, inexactIn } from "~/params/exact";
import { ParamsEditor, paramFaults } from "~/params/ParamsEditor";
import type { Draft, Json } from "~/params/shape";
import styles from "./DeadLetters.module.css";

/** Runs one job again, with its params as they were or mended. */
export function EditRetry({ job, onDone }: { job: Job; onDone: () => void }) {
  const task = useApi("/v1/tasks/{name}", { path: { name: job.task }, query: { tenant: job.tenant } });
  const schema = task.data?.definition.params_schema;
  const before = job.params as Json;
  const [value, setValue] = useState<Draft>(before);
  const [tried, setTried] = useState(false);
  const retry = useAction("post", "/v1/jobs/{job_id}/retry", { toastErrors: false });
  const changed = JSON.stringify(value) !== JSON.stringify(before);
  // As they were they are not sent, so nothing can be wrong with them.
  const wrong = changed ? faultsOfEdit(schema, before, value) : [];
  const own = tried ? wrong : [];
  const told = serverFaults(retry.error?.problem.errors);
  const run = async () => {
    setTried(true);
    if (wrong.length > 0) return;
    const body = changed ? { params: finished(value) as never } : {};
    const again = await retry.run({ path: { job_id: job.id }, body });
    if (again === undefined) return;
    toast.done(changed ? "It runs again, with other params" : "It runs again");
    onDone();
  };
  return (
    <div className={styles.stack}>
      {retry.error && told.length === 0 && <ErrorNote error={retry.error} />}
      {/* The form is made anew once the schema is there. */}
      <ParamsEditor
        key={task.isPending ? "raw" : "form"}
        schema={schema}
        value={value}
        onChange={setValue}
        faults={own.length > 0 ? own : told}
      />
      <div>
        <Button kind="primary" icon="retry" busy={retry.running} onClick={() => void run()}>
          {changed ? "Retry with these params" : "Retry as it was"}
        </Button>
      </div>
    </div>
  );
}

/** What the form began with may itself be rounded, and none of it is kept apart from what was edited. */
function faultsOfEdit(schema: unknown, before: Json, value: Draft): Fault[] {
  const rounded = inexactIn(before) === undefined ? [] : [{ pointer: "", detail: INEXACT }];
  return [...rounded, ...paramFaults(schema, value)];
}
