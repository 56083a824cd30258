/** Closing a gate, with a look at the jobs it would be for before it is closed. */
import { useState } from "react";
import { useAction, useApi } from "~/api/hooks";
import { useSession, useTenant } from "~/api/session";
import { Button } from "~/components/Button";
import { Drawer } from "~/components/Dialog";
import { Fields, Select, TextField } from "~/components/Field";
import { ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Preview } from "./Preview";
import {
  ACTIONS,
  type Action,
  type Draft,
  NEW,
  orderOf,
  percentOf,
  type Running,
  runningChoices,
} from "./words";

interface NewGateProps {
  /** Which it is for, to begin with; "" is any. */
  queue: string;
  onClose: () => void;
}

export function NewGate({ queue, onClose }: NewGateProps) {
  const tenant = useTenant();
  const [draft, setDraft] = useState<Draft>({ ...NEW, tenant: tenant ?? "", queue });
  const [tried, setTried] = useState(false);
  const create = useAction("post", "/v1/gates", {
    done: (gate) => `Gate ${gate.id} is closed`,
    toastErrors: false,
    onDone: onClose,
  });
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const unsaid = draft.reason.trim() === "";
  const send = () => {
    setTried(true);
    if (!unsaid) void create.run({ body: orderOf(draft) });
  };
  return (
    <Drawer
      wide
      open
      title="New gate"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" busy={create.running} onClick={send}>
            Close the gate
          </Button>
        </>
      }
    >
      {create.error && <ErrorNote error={create.error} />}
      <Order
        draft={draft}
        set={set}
        error={tried && unsaid ? "Say why: others will wonder where their jobs are." : null}
      />
      <Scope draft={draft} set={set} />
      <Preview draft={draft} />
    </Drawer>
  );
}

interface PartProps {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
}

function Order({ draft, set, error }: PartProps & { error: string | null }) {
  const about = ACTIONS.find((action) => action.value === draft.action)?.about;
  return (
    <Fields columns={2}>
      <Select
        label="Action"
        value={draft.action}
        choices={ACTIONS}
        hint={about}
        onChange={(action) => set({ action: action as Action })}
      />
      <Select
        label="Running jobs"
        value={orderOf(draft).running}
        choices={runningChoices(draft.action)}
        onChange={(running) => set({ running: running as Running })}
      />
      <TextField
        label="Reason"
        value={draft.reason}
        onChange={(reason) => set({ reason })}
        error={error}
        placeholder="the mail server is down"
      />
      <TextField
        label="Expires in"
        value={draft.expiresIn}
        onChange={(expiresIn) => set({ expiresIn })}
        placeholder="2h"
        hint="Empty: until it is released."
      />
    </Fields>
  );
}

function Scope({ draft, set }: PartProps) {
  const ownTenant = useSession()?.tenant;
  const tasks = useApi("/v1/tasks", { query: { tenant: draft.tenant } }).data?.items;
  const queues = useApi("/v1/queues", { query: { tenant: draft.tenant } }).data?.items;
  const names = (all: readonly string[] | undefined) => [...new Set(all ?? [])].sort();
  return (
    <Panel title="Which jobs" note="left empty: any">
      <Fields>
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
          {!ownTenant && (
            <TextField
              label="Tenant"
              value={draft.tenant}
              onChange={(tenant) => set({ tenant })}
              hint="Empty: all tenants."
            />
          )}
          <TextField
            label="Percent"
            inputMode="numeric"
            value={draft.percent}
            onChange={(percent) => set({ percent: percentOf(percent) })}
            hint="Only so many of a hundred, always the same ones."
          />
        </Fields>
        <TextField
          mono
          label="Condition"
          value={draft.condition}
          onChange={(condition) => set({ condition })}
          placeholder="params.customer == 'acme'"
          hint="An expression in CEL on params and labels: only jobs for which it is true."
        />
      </Fields>
    </Panel>
  );
}
