/** The emergency stop: it says how far it reaches, and asks for a word before it does anything. */
import { useState } from "react";
import { useAction, useApi } from "~/api/hooks";
import { useTenant } from "~/api/session";
import type { Schemas } from "~/api/types";
import { Confirm } from "~/components/Dialog";
import { Fields, Select, TextField } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { Skeleton } from "~/components/Skeleton";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { formatCount, safeText } from "~/lib/text";
import { RUNNING, type Running, reachOf } from "./words";

const WORD = "STOP";

export function StopDialog({ onClose }: { onClose: () => void }) {
  const tenant = useTenant();
  const [reason, setReason] = useState("");
  const [running, setRunning] = useState<Running>("leave");
  const [expiresIn, setExpiresIn] = useState("");
  const reach = useApi("/v1/stop", { query: { tenant }, live: 1, every: 3 });
  const stop = useAction("post", "/v1/stop", {
    done: (gate) => `Emergency stop: gate ${gate.id} holds everything`,
    toastErrors: false,
    onDone: onClose,
  });
  const send = () =>
    void stop.run({
      body: {
        tenant: tenant ?? null,
        running,
        reason: reason.trim() || "emergency stop",
        expires_in: expiresIn.trim() || null,
      },
    });
  return (
    <Confirm
      open
      danger
      title={`Emergency stop of ${tenant ? `tenant ${safeText(tenant)}` : "all tenants"}`}
      confirm="Stop everything"
      typed={WORD}
      busy={stop.running}
      disabled={reach.data === undefined}
      onClose={onClose}
      onConfirm={send}
    >
      {stop.error && <ErrorNote error={stop.error} />}
      {reach.error && <ErrorNote error={reach.error} retry={() => void reach.refetch()} />}
      {reach.data ? <Reach reach={reach.data} running={running} /> : <Skeleton height="8rem" />}
      <Fields columns={2}>
        <TextField label="Reason" value={reason} onChange={setReason} placeholder="emergency stop" />
        <TextField
          label="Ends by itself in"
          value={expiresIn}
          onChange={setExpiresIn}
          placeholder="30m"
          hint="Empty: until somebody ends it."
        />
      </Fields>
      <Select
        label="Running jobs"
        value={running}
        choices={RUNNING}
        onChange={(value) => setRunning(value as Running)}
      />
    </Confirm>
  );
}

function Reach({ reach, running }: { reach: Schemas["StopPreview"]; running: Running }) {
  const [waiting, ...rest] = reachOf(reach, running);
  return (
    <>
      {(reach.stops ?? []).length > 0 && (
        <Note tone="info">A stop is in force already: this changes its reason, and makes it no weaker.</Note>
      )}
      <section aria-label="How far it reaches">
        <Note tone="warn" title={waiting && safeText(waiting)}>
          {rest.join(" ")}
        </Note>
        {reach.largest.length > 0 && (
          <Table
            label="The fullest queues"
            columns={COLUMNS}
            rows={reach.largest.slice(0, 5)}
            rowKey={(queue) => `${queue.tenant} ${queue.queue}`}
          />
        )}
      </section>
    </>
  );
}

type Queue = Schemas["StoppedQueue"];
const COLUMNS: readonly Column<Queue>[] = [
  {
    id: "queue",
    head: "Queue",
    grow: true,
    cell: (queue) => <Text value={`${queue.tenant} / ${queue.queue}`} />,
  },
  { id: "pending", head: "Waiting", align: "end", cell: (queue) => formatCount(queue.pending) },
  { id: "running", head: "Running", align: "end", cell: (queue) => formatCount(queue.running) },
];
