/** The limits on what runs: how much of each is used, and making, changing and removing them. */
import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useAllTenants, useMay, useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Meter } from "~/components/Facts";
import { SearchField, Toolbar } from "~/components/Field";
import { Empty, ErrorNote } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { useFirst } from "~/components/Pager";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { useSearchState, withChanges } from "~/lib/search";
import { safeText } from "~/lib/text";
import { LimitDrawer } from "./LimitDrawer";
import { LimitForm } from "./LimitForm";
import styles from "./Limits.module.css";
import { type Limit, rateWords, scopeOf } from "./words";

export default function Limits() {
  const tenant = useTenant();
  const allTenants = useAllTenants();
  const mayManage = useMay("limits:manage");
  const [making, setMaking] = useState(false);
  const { params, change } = useSearchState();
  const limits = useApi("/v1/limits", { query: { tenant }, live: 2, every: 5 });
  const text = params.get("text") ?? "";
  const chosen = params.get("limit");
  const { drawn, pager } = useFirst(
    limits.data?.items.filter((limit) => matches(limit, text)),
    "limit",
  );
  const href = (limit: Limit) => `/limits?${withChanges(params, { limit: limit.name, of: limit.tenant })}`;
  return (
    <Page
      title="Limits"
      about="How many jobs may run at once, and how many may start in a time."
      actions={
        mayManage && (
          <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
            New limit
          </Button>
        )
      }
    >
      {limits.error && <ErrorNote error={limits.error} retry={() => void limits.refetch()} />}
      <Toolbar label="Filter limits">
        <SearchField label="Search limits" value={text} onChange={(value) => change({ text: value })} />
      </Toolbar>
      <Panel flush>
        <Table
          label="Limits"
          columns={columns(href, allTenants)}
          rows={drawn}
          failed={limits.error !== null}
          rowKey={(limit) => `${limit.tenant ?? ""} ${limit.name}`}
          href={href}
          empty={<NoLimit filtered={text !== ""} />}
        />
      </Panel>
      {pager}
      {chosen !== null && (
        <LimitDrawer
          name={chosen}
          tenant={params.get("of") ?? tenant}
          onClose={() => change({ limit: null, of: null })}
        />
      )}
      {making && <LimitForm onClose={() => setMaking(false)} />}
    </Page>
  );
}

function matches(limit: Limit, text: string): boolean {
  const said = `${limit.name} ${limit.tenant ?? ""} ${scopeOf(limit)} ${limit.reason ?? ""}`;
  return said.toLowerCase().includes(text.trim().toLowerCase());
}

function columns(href: (limit: Limit) => string, allTenants: boolean): Column<Limit>[] {
  const all: (Column<Limit> | false)[] = [
    { id: "name", head: "Name", cell: (limit) => <Link href={href(limit)}>{safeText(limit.name)}</Link> },
    allTenants && {
      id: "tenant",
      head: "Tenant",
      wide: true,
      cell: (limit) => (limit.tenant ? safeText(limit.tenant) : "all"),
    },
    { id: "for", head: "For", grow: true, cell: (limit) => <Text value={scopeOf(limit)} /> },
    { id: "running", head: "Running", width: "8rem", cell: (limit) => <Use limit={limit} /> },
    { id: "rate", head: "Starts", wide: true, cell: (limit) => (limit.rate ? rateWords(limit.rate) : "–") },
    { id: "reason", head: "Reason", wide: true, cell: (limit) => <Text value={limit.reason ?? "–"} /> },
    {
      id: "by",
      head: "Set by",
      wide: true,
      cell: (limit) => (limit.of_task ? <Badge>the task</Badge> : <Text value={limit.made_by} />),
    },
    { id: "set", head: "Set", wide: true, cell: (limit) => <Time at={limit.made_at} /> },
  ];
  return all.filter((column) => column !== false);
}

/** Of a limit for each of many, the sum over its groups cannot be held against the figure of one. */
function Use({ limit }: { limit: Limit }) {
  const running = limit.running ?? 0;
  if (typeof limit.max_running !== "number") return <>{running}</>;
  if ((limit.each ?? []).length > 0) {
    return (
      <>
        {running} in {limit.groups ?? 0} groups, {limit.max_running} each
      </>
    );
  }
  return (
    <span className={styles.use}>
      <Meter
        label={`Use of ${safeText(limit.name)}`}
        value={running}
        most={limit.max_running}
        tone={running >= limit.max_running ? "warn" : "accent"}
      />
      {running}/{limit.max_running}
    </span>
  );
}

function NoLimit({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty icon="limits" title="No limit matches">
        Take the filter away to see more.
      </Empty>
    );
  return (
    <Empty
      icon="limits"
      title="No limit"
      action={<Command text="horae limit set slow --task TASK --max-running 5" />}
    >
      Jobs run as the workers have room. A limit says how many of some jobs may run or start:
    </Empty>
  );
}
