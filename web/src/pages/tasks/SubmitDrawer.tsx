import { useState } from "react";
import { Link } from "wouter";
import { useAction, useApi } from "~/api/hooks";
import { useAllTenants, useTenant } from "~/api/session";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Drawer } from "~/components/Dialog";
import { Select } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { zone } from "~/lib/preferences";
import { curl, shellWords } from "~/lib/shell";
import { useStored } from "~/lib/stored";
import { safeText } from "~/lib/text";
import { fromInput } from "~/lib/time";
import { beginning, serverFaults } from "~/params/draft";
import { ParamsEditor, paramFaults } from "~/params/ParamsEditor";
import { type Draft, isObject } from "~/params/shape";
import { useHref } from "~/shell/navigation";
import type { Task } from "./figures";
import { JobOptions } from "./JobOptions";
import { NO_OPTIONS, type Options, optionFaults, requestOf, submitWords } from "./submit";
import styles from "./Tasks.module.css";

/** Submits a job by hand: a form made from the task's schema, and how and when it shall run. */
export function SubmitDrawer({ task, onClose }: { task: Task; onClose: () => void }) {
  const { name, params_schema: schema } = task.definition;
  const [params, setParams] = useState<Draft>(() =>
    isObject(schema) ? (beginning(schema, schema) ?? {}) : {},
  );
  const [options, setOptions] = useState<Options>(NO_OPTIONS);
  const [tried, setTried] = useState(false);
  const [tenant, setTenant] = useSubmitTenant(task);
  const [chosenZone] = useStored(zone);
  const submit = useAction("post", "/v1/jobs", { toastErrors: false });
  const [made, setMade] = useState<{ id: string; existing: boolean; warnings: readonly string[] }>();
  const faults = paramFaults(schema, params);
  const wrong = optionFaults(options);
  const told = serverFaults(submit.error?.problem.errors);
  const request = requestOf(name, params, options, fromInput(options.at, chosenZone), tenant);
  const run = async () => {
    setTried(true);
    setMade(undefined);
    submit.reset();
    if (faults.length > 0 || Object.keys(wrong).length > 0) return;
    const answer = await submit.run({ body: request });
    if (answer) {
      setMade({ id: answer.id, existing: answer.existing ?? false, warnings: answer.warnings ?? [] });
      setTried(false);
    }
  };
  return (
    <Drawer
      title={`Submit ${safeText(name)}`}
      open
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" icon="play" busy={submit.running} onClick={() => void run()}>
            Submit
          </Button>
        </>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {made && <Made {...made} />}
        {submit.error && told.length === 0 && <ErrorNote error={submit.error} />}
        {tried && faults.length > 0 && (
          <Note tone="danger" title="Something is missing">
            Look at the fields below.
          </Note>
        )}
        <ParamsEditor
          schema={schema}
          value={params}
          onChange={setParams}
          faults={tried && faults.length > 0 ? faults : told}
        />
        {setTenant && <TenantOfJob value={tenant ?? "default"} onChange={setTenant} />}
        <JobOptions
          task={task}
          options={options}
          onChange={setOptions}
          faults={tried ? wrong : {}}
          problem={submit.error?.problem}
        />
        {faults.length === 0 && (
          <details>
            <summary className={styles.quiet}>The same in a terminal</summary>
            <Command text={shellWords(submitWords(request))} label="Copy the command" />
            <Command text={curl("POST", "/v1/jobs", request)} label="Copy the curl command" />
          </details>
        )}
        {/* Enter in a field submits, as in every form. */}
        <button type="submit" hidden />
      </form>
    </Drawer>
  );
}

/** Whose the job is: only who looks at all tenants, at a task for all of them, has a choice. */
function useSubmitTenant(task: Task): [string | undefined, ((tenant: string) => void) | undefined] {
  const tenant = useTenant();
  const all = useAllTenants();
  const [chosen, setChosen] = useState<string>();
  if (!all) return [tenant, undefined];
  return task.tenant ? [task.tenant, undefined] : [chosen, setChosen];
}

function TenantOfJob({ value, onChange }: { value: string; onChange: (tenant: string) => void }) {
  const tenants = useApi("/v1/tenants").data?.items.map((tenant) => tenant.name) ?? ["default"];
  return <Select label="Tenant" choices={tenants} value={value} onChange={onChange} />;
}

function Made({ id, existing, warnings }: { id: string; existing: boolean; warnings: readonly string[] }) {
  const href = useHref();
  return (
    <>
      <Note tone="good" title={existing ? "There is such a job already" : "Submitted"}>
        <Link href={href(`/jobs/${id}`)}>
          <code>{id}</code>
        </Link>
      </Note>
      {warnings.map((warning) => (
        <Note key={warning} tone="warn">
          {safeText(warning)}
        </Note>
      ))}
    </>
  );
}
