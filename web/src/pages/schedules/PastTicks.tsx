import { Link } from "wouter";
import { usePages } from "~/api/hooks";
import type { State } from "~/api/types";
import { Badge } from "~/components/Badge";
import { Select, Toolbar } from "~/components/Field";
import { Empty, ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Pager } from "~/components/Pager";
import { STATES, StateBadge } from "~/components/StateBadge";
import { type Column, Table } from "~/components/Table";
import { Unseen } from "~/components/Text";
import { Duration } from "~/components/Time";
import { useSearchState } from "~/lib/search";
import { plural, safeText } from "~/lib/text";
import { type Href, useHref } from "~/shell/navigation";
import { latestOf } from "./LatePanel";
import styles from "./schedules.module.css";
import type { Schedule, TickRecord } from "./types";
import { markWords } from "./words";
import { anySeconds, formatWall } from "./zones";

export function PastTicks({ schedule }: { schedule: Schedule }) {
  const { params, change } = useSearchState();
  const { name, tz = "UTC", jitter } = schedule.definition;
  const state = params.get("ticks");
  const href = useHref();
  const pages = usePages("/v1/schedules/{name}/ticks", {
    path: { name },
    query: { tenant: schedule.tenant, state, due: true, limit: 50 },
    live: 2,
    every: 15,
  });
  const rows = pages.data?.pages.flatMap((page) => page.items);
  return (
    <div className={styles.stack}>
      <Toolbar label="Filter ticks">
        <Select
          label="Which ticks"
          bare
          value={state ?? ""}
          onChange={(ticks) => change({ ticks })}
          choices={[
            { value: "", label: "All ticks" },
            { value: "fired", label: "Fired" },
            { value: "skipped", label: "Skipped" },
            { value: "waiting", label: "Waiting" },
          ]}
        />
      </Toolbar>
      {pages.error && <ErrorNote error={pages.error} retry={() => void pages.refetch()} />}
      <Panel flush>
        <Table
          label="Past ticks"
          rows={rows}
          failed={pages.error !== null}
          rowKey={(tick) => `${tick.at} ${tick.origin}`}
          columns={columns(tz, { jitters: Boolean(jitter), exact: anySeconds(rows) }, href)}
          empty={
            <Empty title="No ticks here" icon="clock">
              They appear when their time has come, and stay.
            </Empty>
          }
        />
        {rows !== undefined && rows.length > 0 && (
          <Pager
            about={plural(rows.length, "tick")}
            more={pages.hasNextPage}
            busy={pages.isFetchingNextPage}
            onMore={() => void pages.fetchNextPage()}
          />
        )}
      </Panel>
    </div>
  );
}

interface Told {
  /** Its ticks are due a little later than its rule says. */
  jitters: boolean;
  /** With their seconds. */
  exact: boolean;
}

function columns(tz: string, { jitters, exact }: Told, href: Href): Column<TickRecord>[] {
  return [
    {
      id: "at",
      head: tz,
      cell: (tick) => <span className={styles.wall}>{formatWall(new Date(tick.at), tz, exact)}</span>,
    },
    { id: "fate", head: "What became of it", cell: (tick) => <Fate tick={tick} /> },
    { id: "origin", head: "By", wide: true, cell: (tick) => safeText(tick.origin) },
    {
      id: "late",
      head: "Late",
      align: "end",
      wide: true,
      cell: (tick) => <Late tick={tick} jitters={jitters} />,
    },
    {
      id: "took",
      head: "Took",
      align: "end",
      wide: true,
      cell: (tick) =>
        tick.started_at ? <Duration since={tick.started_at} until={tick.finished_at} /> : null,
    },
    { id: "why", head: "Why", grow: true, cell: (tick) => (tick.detail ? safeText(tick.detail) : null) },
    {
      id: "job",
      head: <Unseen>Job</Unseen>,
      align: "end",
      cell: (tick) => tick.job_id && <Link href={href(`/jobs/${tick.job_id}`)}>Job</Link>,
    },
  ];
}

function Late({ tick, jitters }: { tick: TickRecord; jitters: boolean }) {
  if (tick.origin !== "rule") return null;
  return <Duration seconds={latestOf(tick, jitters).late} />;
}

function Fate({ tick }: { tick: TickRecord }) {
  const times = (tick.count ?? 1) > 1 ? ` ×${tick.count}` : "";
  if (tick.job_state && STATES.includes(tick.job_state as State))
    return <StateBadge state={tick.job_state as State} />;
  if (tick.job_state) return <Badge>{safeText(tick.job_state)}</Badge>;
  if (tick.reason) {
    const { label, tone } = markWords(tick.reason);
    return (
      <Badge tone={tone}>
        {label}
        {times}
      </Badge>
    );
  }
  return (
    <Badge>
      {tick.state}
      {times}
    </Badge>
  );
}
