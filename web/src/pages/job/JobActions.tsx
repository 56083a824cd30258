import { useState } from "react";
import { useMay } from "~/api/session";
import type { Job } from "~/api/types";
import { Button } from "~/components/Button";
import { Menu, type MenuItem } from "~/components/Menu";
import { ENDED_STATES, PENDING_STATES } from "~/components/StateBadge";
import { ChangeDialog } from "./ChangeDialog";
import { CancelDialog, MoveDialog } from "./StopDialogs";

type Open = "cancel" | "retry" | "clone" | "edit" | "move";

const AGAIN = ["failed", "cancelled", "dropped"];

/** What can be done to the job as it is now, by whom the key lets. */
export function JobActions({ job }: { job: Job }) {
  const [open, setOpen] = useState<Open>();
  const mayControl = useMay("jobs:control");
  const maySubmit = useMay("jobs:submit");
  const close = () => setOpen(undefined);
  const pending = PENDING_STATES.includes(job.state);
  const rest: MenuItem[] = [];
  if (mayControl && job.state === "running") {
    rest.push({ label: "Move to another worker…", icon: "external", onSelect: () => setOpen("move") });
  }
  return (
    <>
      {mayControl && AGAIN.includes(job.state) && (
        <Button kind="primary" icon="retry" onClick={() => setOpen("retry")}>
          Retry
        </Button>
      )}
      {mayControl && pending && (
        <Button icon="edit" onClick={() => setOpen("edit")}>
          Edit
        </Button>
      )}
      {maySubmit && (
        <Button icon="copy" onClick={() => setOpen("clone")}>
          Clone
        </Button>
      )}
      {mayControl && !ENDED_STATES.includes(job.state) && (
        <Button kind="danger" icon="stop" onClick={() => setOpen("cancel")}>
          Cancel
        </Button>
      )}
      {rest.length > 0 && <Menu label="More actions" icon="more" bare items={rest} />}
      {open === "cancel" && <CancelDialog job={job} onClose={close} />}
      {open === "move" && <MoveDialog job={job} onClose={close} />}
      {(open === "retry" || open === "clone" || open === "edit") && (
        <ChangeDialog job={job} kind={open} onClose={close} />
      )}
    </>
  );
}
