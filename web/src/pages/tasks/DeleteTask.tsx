import { useState } from "react";
import { useLocation } from "wouter";
import { useAction } from "~/api/hooks";
import { Confirm } from "~/components/Dialog";
import { Checkbox } from "~/components/Field";
import { ErrorNote } from "~/components/Note";
import { safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import type { Task } from "./figures";
import { ownerQuery } from "./links";
import styles from "./Tasks.module.css";

/** Deletes a task that is data; its versions stay, so that it can be brought back. */
export function DeleteTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const [force, setForce] = useState(false);
  const [, go] = useLocation();
  const href = useHref();
  const { name } = task.definition;
  const remove = useAction("delete", "/v1/tasks/{name}", {
    toastErrors: false,
    done: `${name} is deleted`,
    onDone: () => go(href("/tasks")),
  });
  const query = { ...ownerQuery(task), force: force ? "true" : undefined };
  return (
    <Confirm
      title={`Delete ${safeText(name)}`}
      open
      onClose={onClose}
      confirm="Delete the task"
      danger
      busy={remove.running}
      onConfirm={() => void remove.run({ path: { name }, query })}
    >
      <div className={styles.stack}>
        <p className={styles.quiet}>
          It can be submitted no more. Its versions stay: <code>horae task rollback</code> brings it back.
        </p>
        {remove.error && <ErrorNote error={remove.error} />}
        {remove.error?.code === "task_in_use" && (
          <Checkbox
            label="Delete it all the same"
            hint="Jobs that wait fail when they are to start."
            checked={force}
            onChange={setForce}
          />
        )}
      </div>
    </Confirm>
  );
}
