import { Link } from "wouter";
import { usePages } from "~/api/hooks";
import { useAllTenants, useMay, useTenant } from "~/api/session";
import { Empty, ErrorNote } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { Pager } from "~/components/Pager";
import { type Column, Table } from "~/components/Table";
import { Text, Unseen } from "~/components/Text";
import { Time } from "~/components/Time";
import { useSearchState, withChanges } from "~/lib/search";
import { plural, safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { ActionDrawer } from "./ActionDrawer";
import styles from "./Actions.module.css";
import { ActionDeeds } from "./deeds";
import { ActionState, Progress } from "./Progress";
import { type BulkAction, filterWords, isUnderWay, VERBS } from "./words";

/** What was done to many jobs at once: how far it is, who did it and why; to stop and to undo. */
export default function Actions() {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const list = usePages("/v1/actions", { query: { tenant, limit: 50 }, live: 1, every: 5 });
  const actions = list.data?.pages.flatMap((page) => page.items);
  const opened = (action: BulkAction) => `/actions?${withChanges(params, { id: action.id })}`;
  const columns = useColumns(opened);
  const href = useHref();
  const chosen = params.get("id");
  const underWay = actions?.filter(isUnderWay).length ?? 0;
  return (
    <Page
      title="Bulk actions"
      about={
        underWay > 0
          ? `${plural(underWay, "action")} under way`
          : "What was done to many jobs at once, newest first."
      }
    >
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      <Panel flush>
        <Table
          label="Bulk actions"
          columns={columns}
          rows={actions}
          failed={list.error !== null}
          rowKey={(action) => action.id ?? ""}
          href={opened}
          empty={
            <Empty title="Nothing has been done to many jobs at once" icon="actions">
              Choose jobs in the list of <Link href={href("/jobs")}>jobs</Link> or a cause among the{" "}
              <Link href={href("/dead-letters")}>dead letters</Link>, or use <code>horae action run</code>.
            </Empty>
          }
        />
        {actions && actions.length > 0 && (
          <Pager
            about={plural(actions.length, "action")}
            more={list.hasNextPage}
            busy={list.isFetchingNextPage}
            onMore={() => void list.fetchNextPage()}
          />
        )}
      </Panel>
      {chosen && <ActionDrawer id={chosen} onClose={() => change({ id: null })} />}
    </Page>
  );
}

function useColumns(opened: (action: BulkAction) => string): Column<BulkAction>[] {
  const allTenants = useAllTenants();
  const mayControl = useMay("jobs:control");
  const columns: (Column<BulkAction> | false)[] = [
    { id: "state", head: "State", width: "7rem", cell: (action) => <ActionState state={action.state} /> },
    {
      id: "what",
      head: "Action",
      grow: true,
      cell: (action) => (
        <>
          <Link href={opened(action)} className={styles.verb}>
            {VERBS[action.action]}
          </Link>{" "}
          <Text value={filterWords(action.filter)} />
        </>
      ),
    },
    {
      id: "progress",
      head: "Progress",
      wide: true,
      width: "14rem",
      cell: (action) => <Progress action={action} />,
    },
    {
      id: "reason",
      head: "Reason",
      wide: true,
      width: "10rem",
      cell: (action) => <Text value={action.reason ?? ""} />,
    },
    allTenants && {
      id: "tenant",
      head: "Tenant",
      wide: true,
      width: "7rem",
      cell: (action) => <Text value={action.tenant} />,
    },
    { id: "by", head: "By", wide: true, width: "7rem", cell: (action) => safeText(action.by ?? "") },
    { id: "made", head: "Made", width: "7rem", cell: (action) => <Time at={action.created_at} /> },
    mayControl && {
      id: "deeds",
      head: <Unseen>Deeds</Unseen>,
      align: "end",
      width: "10rem",
      cell: (action) => (
        <div className={styles.buttons}>
          <ActionDeeds action={action} small />
        </div>
      ),
    },
  ];
  return columns.filter((column) => column !== false);
}
