import type { ReactNode } from "react";
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useAllTenants, useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { SearchField, Select, Toolbar } from "~/components/Field";
import { Empty, ErrorNote } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { useFirst } from "~/components/Pager";
import { Skeleton } from "~/components/Skeleton";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Duration, Time } from "~/components/Time";
import { useClock } from "~/lib/clock";
import { useSearchState } from "~/lib/search";
import { formatCount, formatPercent, formatShort, plural } from "~/lib/text";
import { matches, type Summary, sinceOf, type Task, totalsOf } from "./figures";
import { useTaskHref } from "./links";
import styles from "./Tasks.module.css";

const KINDS = [
  { value: "", label: "Every kind" },
  { value: "function", label: "Functions" },
  { value: "script", label: "Scripts" },
  { value: "container", label: "Containers" },
  { value: "http", label: "HTTP calls" },
];

type Row = Task & { day: Summary | undefined };

/** Everything that can be submitted, and how it did in the last day. */
export default function Tasks() {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const since = useClock((now) => sinceOf("1d", now));
  const list = useApi("/v1/tasks", { query: { tenant }, every: 30 });
  const day = useApi("/v1/tasks/statistics", { query: { tenant, since }, live: 10 });
  const text = params.get("text") ?? "";
  const kind = params.get("kind") ?? "";
  const found = list.data?.items.filter((task) => matches(task, text, kind));
  const { drawn, pager } = useFirst(found, "task");
  const rows = drawn?.map((task) => ({ ...task, day: totalsOf(task, day.data?.items) }));
  const columns = useColumns();
  const taskHref = useTaskHref();
  return (
    <Page
      title="Tasks"
      about={found && `${plural(found.length, "task")} that can be submitted; figures of the last day.`}
    >
      <Toolbar label="Filters">
        <SearchField label="Find a task" value={text} onChange={(next) => change({ text: next })} />
        <Select label="Kind" bare choices={KINDS} value={kind} onChange={(next) => change({ kind: next })} />
      </Toolbar>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      <Panel flush>
        <Table
          label="Tasks"
          columns={columns}
          rows={rows}
          failed={list.error !== null}
          rowKey={(task) => `${task.tenant ?? ""} ${task.definition.name}`}
          href={taskHref}
          empty={
            text || kind ? (
              <Empty title="No task fits these filters" icon="search">
                A task is found by its name and its description.
              </Empty>
            ) : (
              <Empty title="No task is registered" icon="tasks">
                A worker registers its functions when it starts: <code>horae worker --app module:app</code>.
                Scripts, containers and HTTP calls are saved with <code>horae task create</code>.
              </Empty>
            )
          }
        />
      </Panel>
      {pager}
    </Page>
  );
}

function useColumns(): Column<Row>[] {
  const allTenants = useAllTenants();
  const taskHref = useTaskHref();
  const columns: (Column<Row> | false)[] = [
    {
      id: "name",
      head: "Task",
      width: "16rem",
      cell: (task) => (
        <Link href={taskHref(task)} className={styles.name}>
          <Text value={task.definition.name} />
        </Link>
      ),
    },
    { id: "kind", head: "Kind", width: "6rem", cell: (task) => <Badge>{task.kind ?? "function"}</Badge> },
    {
      id: "about",
      head: "About",
      grow: true,
      wide: true,
      cell: (task) => <Text value={(task.definition.description ?? "").split("\n", 1)[0] ?? ""} />,
    },
    allTenants && {
      id: "tenant",
      head: "Tenant",
      width: "7rem",
      wide: true,
      cell: (task) => (task.tenant ? <Text value={task.tenant} /> : "all"),
    },
    {
      id: "runs",
      head: "Ended",
      align: "end",
      width: "5rem",
      cell: (task) => <Figure of={task.day} show={({ ended }) => formatShort(ended)} />,
    },
    {
      id: "failed",
      head: "Failed",
      align: "end",
      width: "5rem",
      cell: (task) => <Figure of={task.day} show={failures} />,
    },
    {
      id: "p50",
      head: "p50",
      align: "end",
      wide: true,
      width: "5rem",
      cell: (task) => <Figure of={task.day} show={({ p50 }) => <Duration seconds={p50} />} />,
    },
    {
      id: "p95",
      head: "p95",
      align: "end",
      wide: true,
      width: "5rem",
      cell: (task) => <Figure of={task.day} show={({ p95 }) => <Duration seconds={p95} />} />,
    },
    {
      id: "changed",
      head: "Changed",
      width: "7rem",
      wide: true,
      cell: (task) => <Time at={task.updated_at} />,
    },
  ];
  return columns.filter((column) => column !== false);
}

function Figure({ of, show }: { of: Summary | undefined; show: (sum: Summary) => ReactNode }) {
  return of === undefined ? <Skeleton width="2rem" /> : show(of);
}

function failures({ failed, ended }: Summary) {
  if (failed === 0) return "0";
  return (
    <span className={styles.bad} title={`${formatCount(failed)} of ${formatCount(ended)}`}>
      {formatPercent(failed / Math.max(1, ended))}
    </span>
  );
}
