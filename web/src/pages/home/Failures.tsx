import { Link } from "wouter";
import type { Overview } from "~/api/types";
import { ButtonLink } from "~/components/Button";
import { Empty } from "~/components/Note";
import { Panel } from "~/components/Page";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { cut, formatShort, safeText } from "~/lib/text";
import { type Href, useHref } from "~/shell/navigation";

type Failure = Overview["failures"][number];

/** Failures of the range by cause: the few things to look at first. */
export function Failures({ overview }: { overview: Overview | undefined }) {
  const href = useHref();
  return (
    <Panel
      title="Failures by cause"
      flush
      actions={
        <ButtonLink href={href("/dead-letters")} kind="quiet" small>
          Dead letters
        </ButtonLink>
      }
    >
      <Table
        label="Failures by cause"
        columns={columns(href)}
        rows={overview?.failures}
        rowKey={(failure) => `${failure.cause} ${failure.task} ${failure.tenant}`}
        href={(failure) => place(failure, href)}
        skeleton={4}
        empty={
          <Empty title="No failures in this time" icon="check">
            Jobs that fail for good are kept here by cause, to look at and run again.
          </Empty>
        }
      />
    </Panel>
  );
}

function place(failure: Failure, href: Href): string {
  return failure.cause === null
    ? href(`/jobs/${failure.example}`)
    : href("/dead-letters", { cause: failure.cause });
}

const columns = (href: Href): Column<Failure>[] => [
  {
    id: "cause",
    head: "Cause",
    grow: true,
    cell: (failure) => (
      <Link href={place(failure, href)} title={safeText(failure.message)}>
        <Text value={cut(failure.message, 200) || (failure.cause ?? "unknown")} />
      </Link>
    ),
  },
  { id: "task", head: "Task", wide: true, cell: (failure) => <Text value={failure.task} /> },
  { id: "jobs", head: "Jobs", align: "end", cell: (failure) => formatShort(failure.jobs) },
  { id: "last", head: "Last", align: "end", width: "6rem", cell: (failure) => <Time at={failure.last_at} /> },
];
