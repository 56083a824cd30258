import { useState } from "react";
import { useAction } from "~/api/hooks";
import { Button } from "~/components/Button";
import { Confirm } from "~/components/Dialog";
import { useClock } from "~/lib/clock";
import { type BulkAction, isUndoable, VERBS } from "./words";

/** Stopping an action that runs, and undoing one for as long as that can be done. */
export function ActionDeeds({ action, small }: { action: BulkAction; small?: boolean }) {
  const cancel = useAction("post", "/v1/actions/{action_id}/cancel", { done: "Stopped where it was" });
  const undo = useAction("post", "/v1/actions/{action_id}/undo", { done: "It is being undone" });
  const undoable = useClock((now) => isUndoable(action, now));
  const [asking, setAsking] = useState(false);
  const path = { action_id: action.id ?? "" };
  return (
    <>
      {action.state === "running" && (
        <Button small={small} icon="stop" busy={cancel.running} onClick={() => void cancel.run({ path })}>
          Stop
        </Button>
      )}
      {undoable && (
        <Button small={small} icon="retry" busy={undo.running} onClick={() => setAsking(true)}>
          Undo
        </Button>
      )}
      <Confirm
        title={`Undo: ${VERBS[action.action].toLowerCase()}`}
        open={asking}
        onClose={() => setAsking(false)}
        confirm="Undo it"
        busy={undo.running}
        onConfirm={() => void undo.run({ path }).then(() => setAsking(false))}
      >
        What it changed is put back. What has happened to a job since is left alone: one that was changed
        again, started, or cancelled by somebody else stays as it is.
      </Confirm>
    </>
  );
}
