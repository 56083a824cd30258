/** The deeds on one gate, each in a window of its own. */
import { useState } from "react";
import { useAction } from "~/api/hooks";
import { Button } from "~/components/Button";
import { Confirm, Dialog } from "~/components/Dialog";
import { Fields, TextField } from "~/components/Field";
import { ErrorNote } from "~/components/Note";
import { toast } from "~/components/Toast";
import { plural } from "~/lib/text";
import { type Gate, heldOf } from "./words";

interface DeedProps {
  gate: Gate;
  onClose: () => void;
}

export function ChangeGate({ gate, onClose }: DeedProps) {
  const [reason, setReason] = useState(gate.reason);
  const [expiresIn, setExpiresIn] = useState("");
  const change = useAction("patch", "/v1/gates/{gate_id}", {
    done: `Gate ${gate.id} is changed`,
    toastErrors: false,
    onDone: onClose,
  });
  const send = () =>
    void change.run({
      path: { gate_id: gate.id },
      body: { reason: reason === gate.reason ? null : reason, expires_in: expiresIn.trim() || null },
    });
  const same = reason === gate.reason && expiresIn.trim() === "";
  return (
    <Dialog
      open
      title={`Change gate ${gate.id}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" busy={change.running} disabled={same} onClick={send}>
            Change
          </Button>
        </>
      }
    >
      {change.error && <ErrorNote error={change.error} />}
      <Fields>
        <TextField label="Reason" value={reason} onChange={setReason} />
        <TextField
          label="Expires in"
          value={expiresIn}
          onChange={setExpiresIn}
          placeholder="4h"
          hint="From now on; never for until it is released; empty leaves it as it is."
        />
      </Fields>
    </Dialog>
  );
}

export function ReleaseGate({ gate, onClose }: DeedProps) {
  const [rate, setRate] = useState("");
  const release = useAction("post", "/v1/gates/{gate_id}/release", {
    done: (after) =>
      after.state === "over" ? `Gate ${gate.id} is open` : `Gate ${gate.id} lets its jobs out`,
    toastErrors: false,
    onDone: onClose,
  });
  const backlog = gate.action === "hold";
  return (
    <Dialog
      open
      title={`Release gate ${gate.id}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            kind="primary"
            busy={release.running}
            onClick={() =>
              void release.run({ path: { gate_id: gate.id }, body: { rate: rate.trim() || null } })
            }
          >
            {rate.trim() ? `Release at ${rate.trim()}` : "Release at once"}
          </Button>
        </>
      }
    >
      {release.error && <ErrorNote error={release.error} />}
      <p>{backlog ? `${heldOf(gate)} jobs wait for it.` : "New jobs are no longer stopped by it."}</p>
      {backlog && (
        <TextField
          label="Rate"
          value={rate}
          onChange={setRate}
          placeholder="10/s"
          hint="How fast what it held is let out, such as 10/s or 600/m; empty: all at once."
        />
      )}
    </Dialog>
  );
}

/** The server brings back as many as it can in a few seconds, and says whether there are more. */
export function RestoreGate({ gate, onClose }: DeedProps) {
  const [total, setTotal] = useState(0);
  const [busy, setBusy] = useState(false);
  const restore = useAction("post", "/v1/gates/{gate_id}/restore", { toastErrors: false });
  const run = async () => {
    setBusy(true);
    let back = 0;
    let more = true;
    while (more) {
      const answer = await restore.run({ path: { gate_id: gate.id }, body: {} });
      if (answer === undefined) break;
      back += answer.restored;
      more = answer.more;
      setTotal(back);
    }
    setBusy(false);
    if (more) return;
    toast.done(`${plural(back, "job")} brought back`);
    onClose();
  };
  return (
    <Confirm
      open
      title={`Bring back what gate ${gate.id} dropped?`}
      confirm={`Bring back ${heldOf(gate)} jobs`}
      busy={busy}
      onClose={onClose}
      onConfirm={() => void run()}
    >
      {restore.error && <ErrorNote error={restore.error} />}
      <p>They wait again, at the time they were for; what is due starts as soon as there is room.</p>
      {busy && <p>{plural(total, "job")} so far.</p>}
    </Confirm>
  );
}
