/** One limit beside the list: what runs under it, who waits behind it, and changing or removing it. */
import { useState } from "react";
import { useAction, useApi } from "~/api/hooks";
import { useMay, useSession } from "~/api/session";
import type { Schemas } from "~/api/types";
import { Button } from "~/components/Button";
import { Confirm, Drawer } from "~/components/Dialog";
import { Facts, Meter } from "~/components/Facts";
import { JobLink, WorkerLink } from "~/components/JobParts";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { plural, safeText } from "~/lib/text";
import { Waiting } from "~/pages/queues/Waiting";
import { useHref } from "~/shell/navigation";
import { LimitForm } from "./LimitForm";
import { type Limit, rateWords, scopeOf } from "./words";

type Holder = Schemas["LimitHolder"];

interface LimitDrawerProps {
  name: string;
  tenant: string | undefined;
  onClose: () => void;
}

export function LimitDrawer({ name, tenant, onClose }: LimitDrawerProps) {
  const use = useApi("/v1/limits/{name}/use", {
    path: { name },
    query: { tenant },
    live: 1,
    every: 3,
    keep: false,
  });
  const found = use.data;
  const href = useHref();
  return (
    <Drawer
      wide
      open
      title={`Limit ${safeText(name)}`}
      onClose={onClose}
      footer={found && <Deeds limit={found.limit} onGone={onClose} />}
    >
      {use.error && <ErrorNote error={use.error} retry={() => void use.refetch()} />}
      {found && <About limit={found.limit} />}
      <Panel title="Runs under it" note={found && plural(found.limit.running ?? 0, "job")} flush>
        <Table
          label="Jobs that run under it"
          columns={HOLDERS}
          rows={found?.holders}
          failed={use.error !== null}
          rowKey={(holder) => holder.job_id}
          href={(holder) => href(`/jobs/${holder.job_id}`)}
          skeleton={3}
          empty={
            <Empty icon="limits" title="Nothing runs under it">
              Jobs that it is for take one of its slots while they run.
            </Empty>
          }
        />
      </Panel>
      <Panel title="Waits behind it" note="longest first, and for what" flush>
        <Waiting lanes={found?.waiting} more={found?.more_waiting ?? false} tenants={tenant === undefined} />
      </Panel>
    </Drawer>
  );
}

function About({ limit }: { limit: Limit }) {
  const most = limit.max_running;
  const counted = typeof most === "number" && (limit.each ?? []).length === 0;
  return (
    <>
      {limit.of_task && (
        <Note tone="info" title="Declared with a task">
          It is changed with the task's definition, in code or on the page of the task.
        </Note>
      )}
      <Facts
        items={[
          ["For", safeText(scopeOf(limit))],
          ["Tenant", limit.tenant ? safeText(limit.tenant) : "all"],
          typeof most === "number" && ["Running at once", `${limit.running ?? 0} of ${most}`],
          typeof limit.rate === "number" && ["Starts", `${rateWords(limit.rate)}, burst ${limit.burst ?? 1}`],
          (limit.each ?? []).length > 0 && ["Groups in use", limit.groups ?? 0],
          ["Set by", safeText(limit.made_by)],
          ["Set", <Time key="set" at={limit.made_at} />],
          Boolean(limit.reason) && ["Reason", safeText(limit.reason ?? "")],
        ]}
      />
      {counted && (
        <Meter
          label="Slots in use"
          value={limit.running ?? 0}
          most={most}
          tone={(limit.running ?? 0) >= most ? "warn" : "accent"}
        />
      )}
    </>
  );
}

/** A limit of all tenants is only for keys of none; one declared with a task is the task's. */
function Deeds({ limit, onGone }: { limit: Limit; onGone: () => void }) {
  const mayManage = useMay("limits:manage");
  const ownTenant = useSession()?.tenant;
  const [asked, setAsked] = useState<"change" | "delete" | null>(null);
  const remove = useAction("delete", "/v1/limits/{name}", {
    done: `The limit ${safeText(limit.name)} is gone`,
    onDone: onGone,
  });
  if (!mayManage || limit.of_task || (ownTenant && !limit.tenant)) return null;
  return (
    <>
      <Button icon="trash" kind="danger" onClick={() => setAsked("delete")}>
        Delete…
      </Button>
      <Button icon="edit" onClick={() => setAsked("change")}>
        Change…
      </Button>
      {asked === "change" && <LimitForm limit={limit} onClose={() => setAsked(null)} />}
      {asked === "delete" && (
        <Confirm
          open
          danger
          title={`Delete the limit ${safeText(limit.name)}?`}
          confirm="Delete"
          busy={remove.running}
          onClose={() => setAsked(null)}
          onConfirm={() => void remove.run({ path: { name: limit.name }, query: { tenant: limit.tenant } })}
        >
          <p>What waits behind it starts at once, as far as other limits and the workers allow.</p>
        </Confirm>
      )}
    </>
  );
}

const HOLDERS: readonly Column<Holder>[] = [
  {
    id: "job",
    head: "Job",
    cell: (holder) => <JobLink job={{ id: holder.job_id, task: holder.task }} />,
  },
  { id: "task", head: "Task", grow: true, cell: (holder) => <Text value={holder.task} /> },
  {
    id: "worker",
    head: "Worker",
    align: "end",
    cell: (holder) => <WorkerLink id={holder.worker_id} />,
  },
  { id: "since", head: "Since", cell: (holder) => <Time at={holder.since} /> },
];
