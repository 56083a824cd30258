/** Who stands in line: for a queue, or behind a limit. */
import { Link } from "wouter";
import type { Schemas } from "~/api/types";
import { Badge } from "~/components/Badge";
import { Empty } from "~/components/Note";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { formatCount, safeText } from "~/lib/text";

type Lane = Schemas["WaitingLane"];

interface WaitingProps {
  lanes: readonly Lane[] | undefined;
  more: boolean;
  /** Whether rows of several tenants may stand side by side. */
  tenants: boolean;
}

export function Waiting({ lanes, more, tenants }: WaitingProps) {
  return (
    <>
      <Table
        label="Who waits"
        columns={tenants ? [TENANT, ...COLUMNS] : COLUMNS}
        rows={lanes}
        rowKey={(lane) => `${lane.tenant} ${lane.queue} ${lane.task} ${lane.key ?? ""} ${lane.job_id}`}
        href={(lane) => `/jobs/${lane.job_id}`}
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

const COLUMNS: readonly Column<Lane>[] = [
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
      <Link href={`/jobs/${lane.job_id}`}>
        <Time at={lane.due_at} />
      </Link>
    ),
  },
  { id: "for", head: "Waits for", cell: (lane) => <WaitsFor lane={lane} /> },
];

function WaitsFor({ lane }: { lane: Lane }) {
  if (lane.gate !== null && lane.gate !== undefined) {
    return <Link href={`/gates?gate=${lane.gate}`}>gate {lane.gate}</Link>;
  }
  if (lane.limit) {
    return <Link href={`/limits?limit=${encodeURIComponent(lane.limit)}`}>limit {safeText(lane.limit)}</Link>;
  }
  if (lane.no_worker) return <Badge tone="warn">a worker that could run it</Badge>;
  return <>its turn</>;
}
