import type { Answer } from "~/api/call";
import { useApi } from "~/api/hooks";
import { WorkerLink } from "~/components/JobParts";
import { ErrorNote } from "~/components/Note";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Duration, Time } from "~/components/Time";

type Execution = Answer<"/v1/jobs/{job_id}/executions", "get">["items"][number];

/** Every attempt at a job, with how it ended. */
export function Attempts({ id }: { id: string }) {
  const asked = useApi("/v1/jobs/{job_id}/executions", { path: { job_id: id } });
  return (
    <>
      {asked.error && <ErrorNote error={asked.error} />}
      <Table
        label="Attempts"
        columns={COLUMNS}
        rows={asked.data?.items}
        rowKey={(each) => String(each.attempt)}
        failed={asked.error !== null}
        skeleton={2}
      />
    </>
  );
}

const COLUMNS: readonly Column<Execution>[] = [
  { id: "attempt", head: "Attempt", align: "end", width: "4.5rem", cell: (each) => each.attempt },
  { id: "end", head: "End", width: "6rem", cell: (each) => each.end ?? "runs" },
  { id: "error", head: "Error", grow: true, cell: (each) => <Text value={each.error?.message ?? ""} /> },
  {
    id: "worker",
    head: "Worker",
    wide: true,
    width: "5rem",
    cell: (each) => <WorkerLink id={each.worker_id} />,
  },
  { id: "started", head: "Started", width: "7rem", cell: (each) => <Time at={each.started_at} /> },
  {
    id: "took",
    head: "Took",
    align: "end",
    width: "5rem",
    cell: (each) => <Duration since={each.started_at} until={each.ended_at} />,
  },
];
