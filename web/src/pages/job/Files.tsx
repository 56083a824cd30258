import { address } from "~/api/call";
import { useApi } from "~/api/hooks";
import type { Job, Schemas } from "~/api/types";
import { Empty, ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { ENDED_STATES } from "~/components/StateBadge";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { formatBytes } from "~/lib/text";

type File = Schemas["FileView"];

const COLUMNS: readonly Column<File>[] = [
  {
    id: "name",
    head: "Name",
    cell: (file) => (
      <a href={address("/v1/files/{file_id}", { file_id: file.id })} download>
        <Text value={file.name} />
      </a>
    ),
  },
  { id: "size", head: "Size", align: "end", cell: (file) => formatBytes(file.size) },
  { id: "type", head: "Type", wide: true, cell: (file) => <Text value={file.media_type} /> },
  { id: "attempt", head: "Attempt", align: "end", wide: true, cell: (file) => file.attempt },
  { id: "made", head: "Made", cell: (file) => <Time at={file.created_at} /> },
  { id: "kept", head: "Kept until", wide: true, cell: (file) => <Time at={file.expires_at} show="exact" /> },
  {
    id: "hash",
    head: "SHA-256",
    wide: true,
    cell: (file) => <code title={file.sha256}>{file.sha256.slice(0, 12)}…</code>,
  },
];

export function Files({ job }: { job: Job }) {
  const over = ENDED_STATES.includes(job.state);
  const files = useApi("/v1/jobs/{job_id}/files", { path: { job_id: job.id }, every: over ? undefined : 5 });
  if (files.error) return <ErrorNote error={files.error} />;
  return (
    <Panel flush>
      <Table
        label="Files"
        columns={COLUMNS}
        rows={files.data?.items}
        rowKey={(file) => file.id}
        skeleton={3}
        empty={
          <Empty title="No files" icon="download">
            What a script or container leaves in its output folder, HORAE_OUTPUT, is kept here.
          </Empty>
        }
      />
    </Panel>
  );
}
