/** One gate beside the list: what it does and to what, changing it, opening it, and bringing back what it dropped. */
import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useMay, useSession } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Drawer } from "~/components/Dialog";
import { Facts } from "~/components/Facts";
import { ErrorNote, Note } from "~/components/Note";
import { Skeleton } from "~/components/Skeleton";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import type { Changes } from "~/lib/search";
import { safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { ChangeGate, ReleaseGate, RestoreGate } from "./GateDeeds";
import { ACTIONS, type Gate, heldOf, kindOf, RUNNING, STATES, whatOf } from "./words";

export function GateDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const gate = useApi("/v1/gates/{gate_id}", { path: { gate_id: id }, live: 1, every: 3, keep: false });
  const found = gate.data;
  return (
    <Drawer
      open
      title={found ? `${kindOf(found)} ${found.id}` : `Gate ${id}`}
      onClose={onClose}
      footer={found && <Deeds gate={found} />}
    >
      {gate.error && <ErrorNote error={gate.error} retry={() => void gate.refetch()} />}
      {found ? <About gate={found} /> : !gate.error && <Skeleton height="12rem" />}
    </Drawer>
  );
}

function About({ gate }: { gate: Gate }) {
  const action = ACTIONS.find((each) => each.value === gate.action);
  const running = RUNNING.find((each) => each.value === (gate.running ?? "leave"));
  const href = useHref();
  return (
    <>
      <div>
        <Badge tone={STATES[gate.state] ?? "neutral"} dot>
          {gate.state}
        </Badge>
      </div>
      <Note tone="info" title={safeText(gate.reason)}>
        {action?.about}
      </Note>
      {gate.note && <Note tone="warn">{safeText(gate.note)}</Note>}
      <Facts
        items={[
          ["For", <Text key="for" value={whatOf(gate)} />],
          ["Action", gate.action],
          [gate.action === "drop" ? "Dropped, can be brought back" : "Jobs that wait for it", heldOf(gate)],
          ["Running jobs", running?.label],
          ["Owner", safeText(gate.owner)],
          ["Closed", <Time key="made" at={gate.made_at} show="both" />],
          ["Expires", gate.expires_at ? <Time key="expires" at={gate.expires_at} show="both" /> : "never"],
          Boolean(gate.released_at) && [
            "Released",
            <Time key="released" at={gate.released_at} show="both" />,
          ],
          Boolean(gate.released_by) && ["Released by", safeText(gate.released_by ?? "")],
          typeof gate.release_rate === "number" && ["Let out at", `${gate.release_rate}/s`],
          Boolean(gate.drained_at) && ["Over", <Time key="over" at={gate.drained_at} show="both" />],
        ]}
      />
      <p>
        <Link href={href("/jobs", jobsBehind(gate))}>Jobs that it is for</Link>
      </p>
      <Command
        text={gate.state === "over" ? `horae gate show ${gate.id}` : `horae gate release ${gate.id}`}
      />
    </>
  );
}

function jobsBehind({ action, state, tenant, queue, task }: Gate): Changes {
  const status = action === "drop" ? "dropped" : state === "over" ? null : "pending";
  return { status, tenant, queue, task };
}

type Asked = "change" | "release" | "restore";

/** A gate of all tenants is only for keys of none. */
function Deeds({ gate }: { gate: Gate }) {
  const mayManage = useMay("gates:manage");
  const ownTenant = useSession()?.tenant;
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  if (!mayManage || (ownTenant && gate.tenant !== ownTenant)) return null;
  const restorable = gate.action === "drop" && gate.state === "over" && (gate.held ?? 0) > 0;
  return (
    <>
      {gate.state === "closed" && (
        <Button icon="edit" onClick={() => setAsked("change")}>
          Change…
        </Button>
      )}
      {restorable && (
        <Button icon="retry" kind="primary" onClick={() => setAsked("restore")}>
          Bring back what it dropped…
        </Button>
      )}
      {gate.state !== "over" && (
        <Button icon="play" kind="primary" onClick={() => setAsked("release")}>
          {gate.state === "releasing" ? "Change the rate…" : "Release…"}
        </Button>
      )}
      {asked === "change" && <ChangeGate gate={gate} onClose={close} />}
      {asked === "release" && <ReleaseGate gate={gate} onClose={close} />}
      {asked === "restore" && <RestoreGate gate={gate} onClose={close} />}
    </>
  );
}
