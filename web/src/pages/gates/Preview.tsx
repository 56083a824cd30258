/** Which waiting jobs a gate would be for, as it is being written. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { call } from "~/api/call";
import type { ApiError } from "~/api/error";
import type { Schemas } from "~/api/types";
import { JobLink } from "~/components/JobParts";
import { Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import { StateBadge } from "~/components/StateBadge";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { formatCount, safeText } from "~/lib/text";
import { useSettled } from "~/lib/typing";
import { type Draft, type GateCreate, orderOf } from "./words";

type Sample = Schemas["PreviewJob"];

export function Preview({ draft }: { draft: Draft }) {
  const order = useSettled(JSON.stringify({ ...orderOf(draft), reason: "preview", expires_in: null }));
  const found = useQuery<Schemas["GatePreview"], ApiError>({
    queryKey: ["gate preview", order],
    queryFn: ({ signal }) =>
      call("post", "/v1/gates/preview", { body: JSON.parse(order) as GateCreate, signal }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const told = found.data;
  return (
    <Panel title="What it would be for" note={told && summary(told)} flush>
      {found.error && <Note tone="warn">{safeText(found.error.message)}</Note>}
      {told?.note && <Note tone="warn">The condition {safeText(told.note)}</Note>}
      {!found.error && (
        <Table
          label="Jobs it would be for"
          columns={COLUMNS}
          rows={told?.sample}
          rowKey={(job) => job.id}
          skeleton={3}
          empty={<p>No waiting job: it is for those to come.</p>}
        />
      )}
    </Panel>
  );
}

function summary(told: Schemas["GatePreview"]): string {
  const looked = `${told.complete ? "" : "the first "}${formatCount(told.looked_at)} waiting jobs`;
  return `${formatCount(told.matching)} of ${looked}`;
}

const COLUMNS: readonly Column<Sample>[] = [
  { id: "job", head: "For example", cell: (job) => <JobLink job={job} /> },
  { id: "task", head: "Task", grow: true, cell: (job) => <Text value={job.task} /> },
  { id: "queue", head: "Queue", cell: (job) => <Text value={job.queue} /> },
  { id: "state", head: "State", cell: (job) => <StateBadge state={job.state} quiet /> },
];
