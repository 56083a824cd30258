import { useApi } from "~/api/hooks";
import { Fields, Select, TextField } from "~/components/Field";
import { Panel } from "~/components/Page";
import { safeText } from "~/lib/text";
import { ParamsEditor } from "~/params/ParamsEditor";
import type { Part } from "./Editor";
import styles from "./editor.module.css";

interface WhatProps extends Part {
  /** A saved schedule keeps its name. */
  fixed: boolean;
  schema: unknown;
  /** For keys of no tenant that make a new one: they say whose it is. */
  onTenant?: (tenant: string) => void;
}

export function WhatFields({ form, set, error, faults, tenant, fixed, schema, onTenant }: WhatProps) {
  const tasks = useApi("/v1/tasks", { query: { tenant } }).data?.items ?? [];
  const tenants = useApi("/v1/tenants", { enabled: onTenant !== undefined }).data?.items ?? [];
  return (
    <Panel title="What">
      <div className={styles.stack}>
        {onTenant && (
          <Select
            label="Tenant of the schedule"
            value={tenant ?? "default"}
            onChange={onTenant}
            choices={tenants.map(({ name }) => ({ value: name, label: safeText(name) }))}
          />
        )}
        <Fields columns={2}>
          <TextField
            label="Name"
            value={form.name}
            disabled={fixed}
            error={error("name")}
            placeholder="nightly-report"
            onChange={(name) => set({ name })}
          />
          <TextField
            label="Task"
            value={form.task}
            options={tasks.map((task) => task.definition.name)}
            error={error("task")}
            onChange={(task) => set({ task })}
          />
        </Fields>
        <TextField
          label="Description"
          value={form.description}
          error={error("description")}
          onChange={(description) => set({ description })}
        />
        <ParamsEditor
          key={schema === undefined ? "raw" : form.task}
          schema={schema}
          value={form.params}
          onChange={(params) => set({ params })}
          faults={faults}
        />
        <TextField
          label="Param that gets the tick's time"
          value={form.tick_param}
          placeholder="none"
          hint="So that a job knows which day it works on, also in a backfill."
          error={error("tick_param")}
          onChange={(tick_param) => set({ tick_param })}
        />
      </div>
    </Panel>
  );
}
