/** Who stands in line: for a queue, or behind a limit. */
import { Link } from "wouter";
import type { Schemas } from "~/api/types";
import { Badge } from "~/components/Badge";
import { Empty } from "~/components/Note";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { formatCount, safeText } from "~/lib/text";
import { type Href, useHref } from "~/shell/navigation";

type Lane = Schemas["WaitingLane"];

interface WaitingProps {
  lanes: readonly Lane[] | undefined;
  more: boolean;
  /** Whether rows of several tenants may stand side by side. */
  tenants: boolean;
}

export function Waiting({ lanes, more, tenants }: WaitingProps) {
  const href = useHref();
  return (
    <>
      <Table
        label="Who waits"
        columns={tenants ? [TENANT, ...columns(href)] : columns(href)}
        rows={lanes}
        rowKey={(lane) => `${lane.tenant} ${lane.queue} ${lane.task} ${lane.key ?? ""} ${lane.job_id}`}
        href={(lane) => href(`/jobs/${lane.job_id}`)}
        skeleton={3}
        empty={
          <Empty icon="check" title="Nobody waits">
            Every job that is due has started.
          </Empty>
        }
      />
      {more && <p>There are more, which are not shown.</p>}
    </>
  );
}

const TENANT: Column<Lane> = { id: "tenant", head: "Tenant", cell: (lane) => <Text value={lane.tenant} /> };

const columns = (href: Href): Column<Lane>[] => [
  {
    id: "task",
    head: "Task",
    grow: true,
    cell: (lane) => <Text value={lane.key ? `${lane.task} · key ${lane.key}` : lane.task} />,
  },
  {
    id: "jobs",
    head: "Jobs",
    align: "end",
    cell: (lane) => `${formatCount(lane.jobs)}${lane.more ? "+" : ""}`,
  },
  {
    id: "due",
    head: "First was due",
    cell: (lane) => (
      <Link href={href(`/jobs/${lane.job_id}`)}>
        <Time at={lane.due_at} />
      </Link>
    ),
  },
  { id: "for", head: "Waits for", cell: (lane) => <WaitsFor lane={lane} href={href} /> },
];

function WaitsFor({ lane, href }: { lane: Lane; href: Href }) {
  if (lane.gate !== null && lane.gate !== undefined) {
    return <Link href={href("/gates", { gate: String(lane.gate) })}>gate {lane.gate}</Link>;
  }
  if (lane.limit) {
    // The tenant's own limit of that name, or the one for all, as seen from there.
    return (
      <Link href={href("/limits", { limit: lane.limit, tenant: lane.tenant })}>
        limit {safeText(lane.limit)}
      </Link>
    );
  }
  if (lane.no_worker) return <Badge tone="warn">a worker that could run it</Badge>;
  return <>its turn</>;
}
