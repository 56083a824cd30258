/** Draining a worker, its maintenance, and letting it go on. */
import { useState } from "react";
import { useAction } from "~/api/hooks";
import { useSession } from "~/api/session";
import { Button } from "~/components/Button";
import { Dialog } from "~/components/Dialog";
import { Checkbox, Fields, TextField } from "~/components/Field";
import { Menu } from "~/components/Menu";
import { ErrorNote } from "~/components/Note";
import { plural, safeText } from "~/lib/text";
import { maySteer, type Worker } from "./fleet";

type Asked = "drain" | "maintenance";

/** What an operator may do to a worker that is theirs to steer. `bare` shows only the icon, for rows. */
export function Steering({ worker, bare = false }: { worker: Worker; bare?: boolean }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const ownTenant = useSession()?.tenant;
  const resume = useAction("post", "/v1/workers/{worker_id}/resume", {
    done: `${safeText(worker.name)} takes jobs again`,
  });
  if (!maySteer(worker, ownTenant)) return null;
  const drained = worker.state === "draining";
  const go = () => void resume.run({ path: { worker_id: worker.id } });
  const dialog = asked && <DrainDialog worker={worker} asked={asked} onClose={() => setAsked(null)} />;
  if (bare) {
    return (
      <>
        <Menu
          bare
          small
          kind="quiet"
          icon="more"
          label={`Actions on ${safeText(worker.name)} (${worker.id})`}
          items={[
            drained && { label: "Resume", icon: "play" as const, onSelect: go },
            !drained && { label: "Drain…", icon: "pause" as const, onSelect: () => setAsked("drain") },
            { label: "Maintenance…", icon: "clock" as const, onSelect: () => setAsked("maintenance") },
          ].filter((item) => item !== false)}
        />
        {dialog}
      </>
    );
  }
  return (
    <>
      {drained ? (
        <Button icon="play" kind="primary" busy={resume.running} onClick={go}>
          Resume
        </Button>
      ) : (
        <Button icon="pause" onClick={() => setAsked("drain")}>
          Drain…
        </Button>
      )}
      <Button icon="clock" onClick={() => setAsked("maintenance")}>
        Maintenance…
      </Button>
      {dialog}
    </>
  );
}

function told(worker: Worker): string {
  const name = `${safeText(worker.name)} takes nothing new`;
  if (worker.moving === null || worker.moving === undefined) return name;
  return `${name}; ${plural(worker.moving, "job")} go on elsewhere, ${worker.staying ?? 0} stay until they end`;
}

function DrainDialog({ worker, asked, onClose }: { worker: Worker; asked: Asked; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const [lasts, setLasts] = useState(asked === "maintenance" ? "1h" : "");
  const [move, setMove] = useState(false);
  const drain = useAction("post", "/v1/workers/{worker_id}/drain", {
    done: told,
    toastErrors: false,
    onDone: onClose,
  });
  const maintenance = asked === "maintenance";
  const send = () =>
    void drain.run({ path: { worker_id: worker.id }, body: { reason, move, lasts: lasts.trim() || null } });
  return (
    <Dialog
      open
      title={`${maintenance ? "Maintenance of" : "Drain"} ${safeText(worker.name)}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            kind="primary"
            busy={drain.running}
            disabled={maintenance && reason.trim() === ""}
            onClick={send}
          >
            {maintenance ? "Begin maintenance" : "Drain"}
          </Button>
        </>
      }
    >
      <p>
        It finishes the {plural(worker.running, "job")} it runs and takes nothing new
        {maintenance
          ? "; when the time is over, it takes jobs again by itself."
          : " until somebody resumes it."}
      </p>
      {drain.error && <ErrorNote error={drain.error} />}
      <Fields>
        <TextField
          label="Reason"
          value={reason}
          onChange={setReason}
          placeholder="new disk"
          hint="For everybody who looks at the fleet."
        />
        {maintenance && (
          <TextField
            label="For"
            value={lasts}
            onChange={setLasts}
            hint="How long, such as 30m or 2h; empty: until resumed."
          />
        )}
        <Checkbox
          label="Move what it runs to other workers"
          checked={move}
          onChange={setMove}
          hint="Jobs are stopped and go on elsewhere, with what they saved as a checkpoint, where another worker could run them."
        />
      </Fields>
    </Dialog>
  );
}
