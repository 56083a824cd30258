import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useAllTenants, useMay, useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button } from "~/components/Button";
import { TextField, Toolbar } from "~/components/Field";
import { Empty, ErrorNote } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { type Column, Table } from "~/components/Table";
import { Segments } from "~/components/Tabs";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { useClock } from "~/lib/clock";
import { useSearchState } from "~/lib/search";
import { formatCount, plural } from "~/lib/text";
import { useDraft } from "~/lib/typing";
import { useHref } from "~/shell/navigation";
import { FollowAction } from "../actions/Progress";
import { type Cause, RANGES, rangeOf, sinceOf } from "./cause";
import { DeadDialog, type Deed } from "./DeadDialog";
import styles from "./DeadLetters.module.css";

export function Causes() {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const range = rangeOf(params.get("range"));
  const task = params.get("task") ?? "";
  const since = useClock((now) => sinceOf(range, now) ?? "");
  const list = useApi("/v1/dead-letters", { query: { tenant, task, since }, live: 5 });
  const tasks = useApi("/v1/tasks", { query: { tenant }, every: 60 }).data?.items ?? [];
  const [typed, type] = useDraft(task, (next) => change({ task: next.trim() }));
  const [deed, setDeed] = useState<Deed>();
  const mayControl = useMay("jobs:control");
  const causes = list.data?.causes;
  const columns = useColumns();
  const total = causes?.reduce((sum, cause) => sum + cause.count, 0) ?? 0;
  // An action is for one tenant: where several stand side by side, one of them must be chosen first.
  const only = tenant ?? onlyTenant(causes);
  const action = params.get("action");
  return (
    <Page
      title="Dead letters"
      about={
        causes &&
        `${plural(total, "failed job")} of ${plural(causes.length, "cause")} wait to be run again or discarded.`
      }
      actions={
        mayControl &&
        total > 0 &&
        only !== undefined && (
          <>
            <Button icon="trash" onClick={() => setDeed("discard")}>
              Discard all…
            </Button>
            <Button icon="retry" kind="primary" onClick={() => setDeed("redrive")}>
              Redrive all…
            </Button>
          </>
        )
      }
    >
      <Toolbar label="Filters">
        <Segments
          label="Jobs made within"
          choices={RANGES}
          value={range}
          onChange={(next) => change({ range: next === "all" ? null : next })}
        />
        <TextField
          label="Task"
          bare
          placeholder="Task"
          value={typed}
          options={tasks.map((each) => each.definition.name)}
          data-search
          onChange={type}
        />
      </Toolbar>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {action && <FollowAction id={action} onClose={() => change({ action: null })} />}
      <Panel flush>
        <Table
          label="Causes of failure"
          columns={columns}
          rows={causes}
          failed={list.error !== null}
          rowKey={(cause) => `${cause.tenant} ${cause.cause ?? ""}`}
          onOpen={(cause) =>
            cause.cause !== null && change({ cause: cause.cause, tenant: tenant ?? cause.tenant }, true)
          }
          empty={
            <Empty
              title={task || since ? "No failed job fits these filters" : "Nothing has failed for good"}
              icon="check"
            >
              A job whose attempts are used up stands here until somebody runs it again or discards it.
            </Empty>
          }
        />
      </Panel>
      {deed && only !== undefined && (
        <DeadDialog
          deed={deed}
          filter={{ tenant: only, task: task || undefined, since: since || undefined }}
          onClose={() => setDeed(undefined)}
          onMade={(id) => change({ action: id })}
        />
      )}
    </Page>
  );
}

function onlyTenant(causes: readonly Cause[] | undefined): string | undefined {
  const tenants = new Set(causes?.map((cause) => cause.tenant));
  return tenants.size === 1 ? [...tenants][0] : undefined;
}

function useColumns(): Column<Cause>[] {
  const allTenants = useAllTenants();
  const tenant = useTenant();
  const columns: (Column<Cause> | false)[] = [
    {
      id: "count",
      head: "Jobs",
      align: "end",
      width: "5rem",
      cell: (cause) => <span className={styles.count}>{formatCount(cause.count)}</span>,
    },
    {
      id: "error",
      head: "Error",
      grow: true,
      cell: (cause) => <CauseLink cause={cause} tenant={tenant ?? cause.tenant} />,
    },
    {
      id: "tasks",
      head: "Tasks",
      width: "12rem",
      wide: true,
      cell: (cause) => (
        <span className={styles.tasks}>
          {cause.tasks.slice(0, 3).map((task) => (
            <Badge key={task}>
              <Text value={task} />
            </Badge>
          ))}
          {cause.tasks.length > 3 && <Badge>+{cause.tasks.length - 3}</Badge>}
        </span>
      ),
    },
    allTenants && {
      id: "tenant",
      head: "Tenant",
      width: "8rem",
      wide: true,
      cell: (cause) => <Text value={cause.tenant} />,
    },
    { id: "last", head: "Last", width: "7rem", cell: (cause) => <Time at={cause.last_at} /> },
    { id: "first", head: "First", width: "7rem", wide: true, cell: (cause) => <Time at={cause.first_at} /> },
  ];
  return columns.filter((column) => column !== false);
}

function CauseLink({ cause, tenant }: { cause: Cause; tenant: string }) {
  const words = (
    <span className={styles.error}>
      <span className={styles.kind}>
        <Text value={cause.error?.kind ?? "unknown"} />
      </span>
      <span className={styles.words}>
        <Text value={cause.error?.message ?? "It failed before causes were kept"} />
      </span>
    </span>
  );
  const href = useHref();
  if (cause.cause === null) return words;
  return <Link href={href("/dead-letters", { cause: cause.cause, tenant })}>{words}</Link>;
}
