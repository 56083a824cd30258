import { useState } from "react";
import { useLocation } from "wouter";
import { useAction, useApi } from "~/api/hooks";
import { useSession, useTenant } from "~/api/session";
import { Button } from "~/components/Button";
import { Checkbox, TextField } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { useSearchState } from "~/lib/search";
import { safeText } from "~/lib/text";
import { localZone } from "~/lib/time";
import type { Fault } from "~/params/draft";
import { paramFaults } from "~/params/ParamsEditor";
import { useScheduleHref } from "../links";
import type { Schedule } from "../types";
import { ExceptionFields } from "./ExceptionFields";
import styles from "./editor.module.css";
import { allFaults, ownFaults } from "./faults";
import { definitionOf, emptyForm, type Form, formOf } from "./form";
import { JobFields } from "./JobFields";
import { PolicyFields } from "./PolicyFields";
import { PreviewPanel } from "./PreviewPanel";
import { TimingFields } from "./TimingFields";
import { usePreview } from "./usePreview";
import { WhatFields } from "./WhatFields";

/** What every part of the form is given. */
export interface Part {
  form: Form;
  set: (change: Partial<Form>) => void;
  /** What is wrong with a field, by its path. */
  error: (field: string) => string | undefined;
  faults: readonly Fault[];
  tenant: string | undefined;
}

/** Makes a schedule, or changes the one that is given; the next runs stand beside it as one types. */
export function Editor({ schedule }: { schedule?: Schedule }) {
  const [form, setForm] = useState(() => (schedule ? formOf(schedule.definition) : emptyForm(localZone())));
  const [began] = useState(schedule?.version);
  const [why, setWhy] = useState("");
  const [paused, setPaused] = useState(false);
  const [strict, setStrict] = useState(false);
  const [leaving, leave] = useLeave();
  const chosen = useTenant();
  const free = !useSession()?.tenant;
  const [named, setNamed] = useState(chosen ?? "default");
  const tenant = schedule?.tenant ?? chosen ?? (free ? named : undefined);
  const schema = useTaskSchema(form.task, tenant);
  const save = useSave(schedule, leave);

  const own = ownFaults(form, strict);
  const open = paramFaults(schema, form.params).filter(({ pointer }) => pointer !== `/${form.tick_param}`);
  const preview = usePreview(ownFaults(form, false).size === 0 ? definitionOf(form) : null, tenant);
  // What the server said of the whole when it was to be saved is about the form as it was then.
  const said = preview.trouble ?? save.error?.problem ?? null;
  const faults = allFaults(own, strict || Object.keys(form.params ?? {}).length > 0 ? open : [], said);
  const set = (change: Partial<Form>) => {
    save.reset();
    setForm((before) => ({ ...before, ...change }));
  };
  const part: Part = { form, set, error: (field) => faults.at.get(field), faults: faults.params, tenant };
  const submit = () => {
    setStrict(true);
    if (ownFaults(form, true).size > 0 || open.length > 0) return;
    save.run({ ...definitionOf(form), why, tenant }, paused);
  };
  const buttons = (
    <>
      <Button onClick={() => leave()}>Back</Button>
      <Button kind="primary" icon="check" busy={save.running || leaving} onClick={submit}>
        {schedule ? "Save" : "Create"}
      </Button>
    </>
  );
  return (
    <Page title={schedule ? `Edit ${safeText(schedule.definition.name)}` : "New schedule"} actions={buttons}>
      {schedule && schedule.version !== began && (
        <Note tone="warn" title="It has changed meanwhile">
          {safeText(schedule.changed_by)} saved version {schedule.version}: saving puts yours in its place.
        </Note>
      )}
      <div className={styles.layout}>
        <WhatFields
          {...part}
          fixed={schedule !== undefined}
          schema={schema}
          onTenant={!schedule && free && !chosen ? setNamed : undefined}
        />
        <TimingFields {...part} />
        <div className={styles.aside}>
          <PreviewPanel preview={preview} tz={form.tz} rest={faults.rest} />
        </div>
        <ExceptionFields {...part} />
        <PolicyFields {...part} />
        <JobFields {...part} />
        <Panel title={schedule ? "Save" : "Create"}>
          <div className={styles.stack}>
            <TextField label="Why" hint="For the history; may be left out." value={why} onChange={setWhy} />
            {!schedule && <Checkbox label="Paused at first" checked={paused} onChange={setPaused} />}
            {save.error && faults.rest.length > 0 && <ErrorNote error={save.error} />}
            {strict && faults.at.size + faults.params.length > 0 && (
              <Note tone="danger">Something above is not right yet: it is marked at its field.</Note>
            )}
            <div className={styles.buttons}>{buttons}</div>
          </div>
        </Panel>
      </div>
    </Page>
  );
}

function useTaskSchema(task: string, tenant: string | undefined): unknown {
  const tasks = useApi("/v1/tasks", { query: { tenant } }).data?.items;
  return tasks?.find((each) => each.definition.name === task)?.definition.params_schema ?? undefined;
}

/** Back to where one came from: the schedule's page, or the list. */
function useLeave(): [boolean, (saved?: Schedule) => void] {
  const [leaving, setLeaving] = useState(false);
  const { change } = useSearchState();
  const [, go] = useLocation();
  const href = useScheduleHref();
  const leave = (saved?: Schedule) => {
    if (!saved) return change({ view: null, edit: null });
    setLeaving(true);
    go(href(saved.definition.name, saved.tenant));
  };
  return [leaving, leave];
}

function useSave(schedule: Schedule | undefined, leave: (saved: Schedule) => void) {
  const create = useAction("post", "/v1/schedules", {
    toastErrors: false,
    done: (made) => `${safeText(made.definition.name)} is made`,
    onDone: leave,
  });
  const put = useAction("put", "/v1/schedules/{name}", {
    toastErrors: false,
    done: (made) => `${safeText(made.definition.name)} is ${made.outcome}`,
    onDone: leave,
  });
  type Saved = NonNullable<Parameters<typeof create.run>[0]>["body"];
  return {
    running: create.running || put.running,
    error: create.error ?? put.error,
    reset: () => {
      create.reset();
      put.reset();
    },
    run: (body: NonNullable<Saved>, paused: boolean) => {
      if (schedule) void put.run({ path: { name: body.name }, body });
      else void create.run({ body: { ...body, paused } });
    },
  };
}
