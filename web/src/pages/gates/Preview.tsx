/** Which waiting jobs a gate would be for, as it is being written. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { call } from "~/api/call";
import type { ApiError } from "~/api/error";
import type { Schemas } from "~/api/types";
import { Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import { StateBadge } from "~/components/StateBadge";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { formatCount, safeText } from "~/lib/text";
import { type Draft, type GateCreate, orderOf } from "./words";

type Sample = Schemas["PreviewJob"];
const PAUSE = 350;

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
  { id: "job", head: "For example", cell: (job) => <Link href={`/jobs/${job.id}`}>{job.id}</Link> },
  { id: "task", head: "Task", grow: true, cell: (job) => <Text value={job.task} /> },
  { id: "queue", head: "Queue", cell: (job) => <Text value={job.queue} /> },
  { id: "state", head: "State", cell: (job) => <StateBadge state={job.state} quiet /> },
];

/** The value once it has not changed for a moment: nobody wants an answer to half a word. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
