import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useLocation } from "wouter";
import { type Answer, call } from "~/api/call";
import { client } from "~/api/client";
import { ApiError } from "~/api/error";
import { useApi } from "~/api/hooks";
import { Command } from "~/components/Copy";
import { Confirm } from "~/components/Dialog";
import { Fields, Select, TextField } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { Skeleton } from "~/components/Skeleton";
import { StateBadge } from "~/components/StateBadge";
import { Text } from "~/components/Text";
import { toast } from "~/components/Toast";
import { curl } from "~/lib/shell";
import { formatCount, plural } from "~/lib/text";
import {
  actionCommand,
  EMPTY_FORM,
  type Form,
  KINDS,
  type Kind,
  type Request,
  requestsOf,
  type Target,
  takesRate,
} from "./bulk";
import styles from "./Jobs.module.css";

type Action = Answer<"/v1/jobs/actions", "post">;

interface BulkDialogProps {
  kind: Kind;
  target: Target;
  onClose: () => void;
  onDone: () => void;
}

/** Says first what would happen to how many jobs and shows some of them; only then it happens. */
export function BulkDialog({ kind, target, onClose, onDone }: BulkDialogProps) {
  const words = KINDS[kind];
  const [form, setForm] = useState<Form>(EMPTY_FORM);
  const [tenant, setTenant] = useState("");
  const needsTenant = "filter" in target && target.tenant === undefined;
  const requests = useMemo(() => {
    if (needsTenant && tenant === "") return undefined;
    return requestsOf(kind, needsTenant ? { ...target, tenant } : target, form, new Date());
  }, [kind, target, form, needsTenant, tenant]);
  const preview = usePreview(requests);
  const count = preview.data?.count ?? 0;
  const [busy, setBusy] = useState(false);
  const [, go] = useLocation();
  const run = async () => {
    if (!requests) return;
    setBusy(true);
    await carryOut(kind, requests, () => go("/actions")).then((done) => done && onDone());
    setBusy(false);
  };
  const many = `${formatCount(count)}${preview.data?.more ? " or more" : ""} ${count === 1 ? "job" : "jobs"}`;
  return (
    <Confirm
      title={`${words.verb} jobs`}
      open
      onClose={onClose}
      confirm={preview.data ? `${words.verb} ${many}` : words.verb}
      danger={words.danger}
      busy={busy}
      disabled={count === 0 || preview.isFetching}
      onConfirm={() => void run()}
    >
      <p className={styles.about}>{words.about}</p>
      {needsTenant && <TenantChoice value={tenant} onChange={setTenant} />}
      <FormFields kind={kind} form={form} onChange={setForm} />
      {preview.error && <ErrorNote error={preview.error} />}
      {requests && <Preview preview={preview.data} />}
      {requests?.[0] && (
        <details className={styles.equivalent}>
          <summary>The same in a terminal</summary>
          <Command text={actionCommand(requests[0])} label="Copy the command" />
          <Command text={curl("POST", "/v1/jobs/actions", requests[0])} label="Copy the curl command" />
        </details>
      )}
    </Confirm>
  );
}

function TenantChoice({ value, onChange }: { value: string; onChange: (tenant: string) => void }) {
  const tenants = useApi("/v1/tenants").data?.items ?? [];
  return (
    <Select
      label="Tenant"
      hint="All tenants are listed; an action is for one of them."
      value={value}
      onChange={onChange}
      choices={[{ value: "", label: "Choose…" }, ...tenants.map((tenant) => tenant.name)]}
    />
  );
}

function FormFields({ kind, form, onChange }: { kind: Kind; form: Form; onChange: (form: Form) => void }) {
  const set = (name: keyof Form) => (value: string) => onChange({ ...form, [name]: value });
  return (
    <Fields columns={2}>
      {kind === "reprioritise" && (
        <TextField
          label="Priority"
          type="number"
          min={1}
          max={10}
          value={form.priority}
          onChange={set("priority")}
          hint="1 is the lowest, 10 an emergency"
        />
      )}
      {kind === "reschedule" && (
        <TextField
          label="Run in"
          value={form.delay}
          onChange={set("delay")}
          placeholder="10m"
          hint="From now: 0s, 90s, 10m, 1h30m"
        />
      )}
      {takesRate(kind) && (
        <TextField
          label="Jobs a second"
          type="number"
          min={1}
          value={form.rate}
          onChange={set("rate")}
          placeholder="100"
          hint="So that what made them fail is not flooded"
        />
      )}
      <TextField
        label="Reason"
        value={form.reason}
        onChange={set("reason")}
        maxLength={500}
        placeholder="Why, for whoever looks later"
      />
    </Fields>
  );
}

interface Previewed {
  count: number;
  more: boolean;
  sample: NonNullable<Action["sample"]>;
}

function usePreview(requests: Request[] | undefined) {
  return useQuery<Previewed, ApiError>({
    queryKey: ["/v1/jobs/actions", "preview", requests],
    enabled: requests !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        (requests ?? []).map((body) =>
          call("post", "/v1/jobs/actions", { body: { ...body, preview: true }, signal }).catch(nothingOfThat),
        ),
      );
      return {
        count: found.reduce((sum, each) => sum + (each?.total ?? 0), 0),
        more: found.some((each) => each?.more),
        sample: found.flatMap((each) => each?.sample ?? []).slice(0, 10),
      };
    },
  });
}

/** An action of which a chosen tenant has no fitting job is none, not an error. */
function nothingOfThat(error: unknown): undefined {
  if (error instanceof ApiError && error.problem.field === "filter") return undefined;
  throw error;
}

function Preview({ preview }: { preview: Previewed | undefined }) {
  if (!preview) return <Skeleton height="6rem" />;
  if (preview.count === 0) return <Note>None of these jobs is in a state for that.</Note>;
  return (
    <section aria-label="Preview" className={styles.preview}>
      <strong>
        {preview.more ? "At least " : ""}
        {plural(preview.count, "job")}, of which the newest {preview.sample.length === 1 ? "is" : "are"}
      </strong>
      <ul>
        {preview.sample.map((job) => (
          <li key={job.id}>
            <StateBadge state={job.state} quiet />
            <Text value={job.task} />
            <code title={job.id}>{shortId(job.id)}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

const shortId = (id: string) => `${id.slice(0, 8)}…${id.slice(-6)}`;

async function carryOut(kind: Kind, requests: Request[], follow: () => void): Promise<boolean> {
  try {
    const made = await Promise.all(requests.map((body) => call("post", "/v1/jobs/actions", { body })));
    const words = KINDS[kind];
    const total = made.reduce((sum, each) => sum + (each.total ?? 0), 0);
    const undo = { label: "Undo", onClick: () => void undoAll(made) };
    toast.done(
      `${words.verb}: ${plural(total, "job")}`,
      words.undoable ? undo : { label: "Follow", onClick: follow },
    );
    return true;
  } catch (error) {
    toast.error(error);
    return false;
  } finally {
    void client.invalidateQueries();
  }
}

async function undoAll(made: Action[]): Promise<void> {
  try {
    for (const { id } of made)
      if (id) await call("post", "/v1/actions/{action_id}/undo", { path: { action_id: id } });
    toast.done("It is being undone");
  } catch (error) {
    toast.error(error);
  }
  void client.invalidateQueries();
}
