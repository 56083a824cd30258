import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { type Answer, call } from "~/api/call";
import { client } from "~/api/client";
import { ApiError } from "~/api/error";
import { useApi } from "~/api/hooks";
import { Command } from "~/components/Copy";
import { Confirm } from "~/components/Dialog";
import { Fields, Select, TextField } from "~/components/Field";
import { ShortId } from "~/components/JobParts";
import { ErrorNote, Note } from "~/components/Note";
import { Skeleton } from "~/components/Skeleton";
import { StateBadge } from "~/components/StateBadge";
import { Text } from "~/components/Text";
import { toast } from "~/components/Toast";
import { curl } from "~/lib/shell";
import { formatCount, plural, safeText } from "~/lib/text";
import { useSettled } from "~/lib/typing";
import { useHref } from "~/shell/navigation";
import {
  actionCommand,
  EMPTY_FORM,
  type Form,
  KINDS,
  type Kind,
  leftOf,
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
  const [done, setDone] = useState<readonly string[]>([]);
  const needsTenant = "filter" in target && target.tenant === undefined;
  const [opened] = useState(() => new Date());
  const left = leftOf(needsTenant ? { ...target, tenant } : target, done);
  const requests = needsTenant && tenant === "" ? undefined : requestsOf(kind, left, form, opened);
  const preview = usePreview(requests);
  const count = preview.data?.count ?? 0;
  const [, go] = useLocation();
  const href = useHref();
  const deed = useMutation({
    mutationFn: carryOut,
    onSuccess: ({ made, error }) => {
      if (made.length > 0) tell(kind, made, () => go(href("/actions")));
      if (error === undefined) onDone();
      else setDone((before) => [...before, ...made.map((each) => each.tenant)]);
    },
    onSettled: () => client.invalidateQueries(),
  });
  const said = requests?.map(actionCommand);
  const commands = said?.includes(undefined) ? undefined : said?.join("\n");
  const many = `${formatCount(count)}${preview.data?.more ? " or more" : ""} ${count === 1 ? "job" : "jobs"}`;
  return (
    <Confirm
      title={`${words.verb} jobs`}
      open
      onClose={onClose}
      confirm={requests && preview.data ? `${words.verb} ${many}` : words.verb}
      danger={words.danger}
      busy={deed.isPending}
      disabled={!requests || count === 0 || preview.settling}
      onConfirm={() => requests && deed.mutate(requests)}
    >
      <p className={styles.about}>{words.about}</p>
      {needsTenant && <TenantChoice value={tenant} onChange={setTenant} />}
      <FormFields kind={kind} form={form} onChange={setForm} />
      {preview.error && <ErrorNote error={preview.error} />}
      {deed.data?.error && <ErrorNote error={deed.data.error} />}
      {done.length > 0 && <Note>It is done for {safeText(done.join(", "))}: what is left is below.</Note>}
      {requests && <Preview preview={preview.data} />}
      {requests && (
        <details className={styles.equivalent}>
          <summary>The same in a terminal</summary>
          {commands && <Command text={commands} label="Copy the command" />}
          <Command
            text={requests.map((each) => curl("POST", "/v1/jobs/actions", each)).join("\n")}
            label="Copy the curl command"
          />
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

/** Counts once the typing pauses; what the reason is changes nothing about that. */
function usePreview(requests: Request[] | undefined) {
  const asked = JSON.stringify(
    requests?.map((each) => ({ ...each, reason: undefined, preview: true })) ?? null,
  );
  const settled = useSettled(asked);
  const found = useQuery<Previewed, ApiError>({
    queryKey: ["/v1/jobs/actions", "preview", settled],
    enabled: settled !== "null",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        (JSON.parse(settled) as Request[]).map((body) =>
          call("post", "/v1/jobs/actions", { body, signal }).catch(nothingOfThat),
        ),
      );
      return {
        count: found.reduce((sum, each) => sum + (each?.total ?? 0), 0),
        more: found.some((each) => each?.more),
        sample: found.flatMap((each) => each?.sample ?? []).slice(0, 10),
      };
    },
  });
  return { data: found.data, error: found.error, settling: found.isFetching || settled !== asked };
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
            <ShortId id={job.id} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Outcome {
  made: Action[];
  /** Why the first of the others failed, if one did. */
  error: ApiError | undefined;
}

/** One request that fails takes none of the others with it. */
async function carryOut(requests: Request[]): Promise<Outcome> {
  const answers = await Promise.allSettled(
    requests.map((body) => call("post", "/v1/jobs/actions", { body })),
  );
  return {
    made: answers.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])),
    error: answers.find((each) => each.status === "rejected")?.reason,
  };
}

function tell(kind: Kind, made: Action[], follow: () => void): void {
  const words = KINDS[kind];
  const total = made.reduce((sum, each) => sum + (each.total ?? 0), 0);
  const undo = { label: "Undo", onClick: () => void undoAll(made) };
  toast.done(
    `${words.verb}: ${plural(total, "job")}`,
    words.undoable ? undo : { label: "Follow", onClick: follow },
  );
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
