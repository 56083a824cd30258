/** Making a limit, or changing one: it holds at once, on every server. */
import { useState } from "react";
import { useAction, useApi } from "~/api/hooks";
import { useSession, useTenant } from "~/api/session";
import { Button } from "~/components/Button";
import { Drawer } from "~/components/Dialog";
import { Checkbox, Fields, TextField } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import { safeText } from "~/lib/text";
import { type Draft, draftOf, FIELDS, type Field, faultOf, type Limit, putOf } from "./words";

const EACH: Record<Field, string> = {
  tenant: "Each tenant for itself",
  queue: "Each queue for itself",
  task: "Each task for itself",
  key: "Each concurrency key for itself",
};

export function LimitForm({ limit, onClose }: { limit?: Limit; onClose: () => void }) {
  const tenant = useTenant();
  const [draft, setDraft] = useState<Draft>(() => ({
    ...draftOf(limit),
    ...(limit ? {} : { tenant: tenant ?? "" }),
  }));
  const [tried, setTried] = useState(false);
  const save = useAction("put", "/v1/limits/{name}", {
    done: `The limit ${safeText(draft.name)} holds`,
    toastErrors: false,
    onDone: onClose,
  });
  const fault = tried ? faultOf(draft) : undefined;
  const send = () => {
    setTried(true);
    if (faultOf(draft) === undefined)
      void save.run({ path: { name: draft.name.trim() }, body: putOf(draft) });
  };
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  return (
    <Drawer
      open
      title={limit ? `Change the limit ${safeText(limit.name)}` : "New limit"}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" busy={save.running} onClick={send}>
            {limit ? "Change" : "Create"}
          </Button>
        </>
      }
    >
      {save.error && <ErrorNote error={save.error} />}
      {!limit && (
        <TextField
          label="Name"
          value={draft.name}
          onChange={(name) => set({ name })}
          error={fault?.field === "name" ? fault.text : null}
        />
      )}
      <Amounts draft={draft} set={set} error={fault?.field === "maxRunning" ? fault.text : null} />
      <Scope draft={draft} set={set} fixed={limit !== undefined} />
      <TextField
        label="Reason"
        value={draft.reason}
        onChange={(reason) => set({ reason })}
        hint="For those who look at it later."
      />
    </Drawer>
  );
}

interface PartProps {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
}

function Amounts({ draft, set, error }: PartProps & { error: string | null }) {
  return (
    <Fields columns={3}>
      <TextField
        label="Running at once"
        inputMode="numeric"
        value={draft.maxRunning}
        onChange={(maxRunning) => set({ maxRunning })}
        error={error}
        hint="0 lets nothing start."
      />
      <TextField
        label="Starts"
        value={draft.rate}
        onChange={(rate) => set({ rate })}
        placeholder="10/s"
        hint="10/s, 600/m, 5/h"
      />
      <TextField
        label="Burst"
        inputMode="decimal"
        value={draft.burst}
        onChange={(burst) => set({ burst })}
        disabled={draft.rate.trim() === ""}
        hint="Starts at once after a pause."
      />
    </Fields>
  );
}

function Scope({ draft, set, fixed }: PartProps & { fixed: boolean }) {
  const ownTenant = useSession()?.tenant;
  const tasks = useApi("/v1/tasks", { query: { tenant: draft.tenant } }).data?.items;
  const queues = useApi("/v1/queues", { query: { tenant: draft.tenant } }).data?.items;
  const names = (all: readonly string[] | undefined) => [...new Set(all ?? [])].sort();
  return (
    <Panel title="Which jobs" note="left empty: any">
      <Fields>
        {fixed && (
          <Note tone="info">
            With another scope it counts anew: what runs then is counted from the first moment.
          </Note>
        )}
        <Fields columns={2}>
          <TextField
            label="Task"
            value={draft.task}
            onChange={(task) => set({ task })}
            options={names(tasks?.map((task) => task.definition.name))}
          />
          <TextField
            label="Queue"
            value={draft.queue}
            onChange={(queue) => set({ queue })}
            options={names(queues?.map((queue) => queue.queue))}
          />
          <TextField
            label="Concurrency key"
            value={draft.key}
            onChange={(key) => set({ key })}
            placeholder="customer-*"
            hint="* at the end stands for any ending."
          />
          {!ownTenant && (
            <TextField
              label="Tenant"
              value={draft.tenant}
              onChange={(tenant) => set({ tenant })}
              disabled={fixed}
              hint="Empty: all tenants together."
            />
          )}
        </Fields>
        <Fields columns={2}>
          {FIELDS.filter((field) => !(ownTenant && field === "tenant")).map((field) => (
            <Checkbox
              key={field}
              label={EACH[field]}
              checked={draft.each.includes(field)}
              onChange={(on) =>
                set({ each: FIELDS.filter((each) => (each === field ? on : draft.each.includes(each))) })
              }
            />
          ))}
        </Fields>
      </Fields>
    </Panel>
  );
}
