/** One worker: what it runs, how it fares, what happened to it, and steering it. */
import { useParams } from "wouter";
import { useApi, usePages } from "~/api/hooks";
import { useMay } from "~/api/session";
import type { Schemas } from "~/api/types";
import { Badge } from "~/components/Badge";
import { Command } from "~/components/Copy";
import { Facts, Stat, Stats } from "~/components/Facts";
import { JobLink } from "~/components/JobParts";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Grid, Page, Panel } from "~/components/Page";
import { Pager } from "~/components/Pager";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Duration, Time } from "~/components/Time";
import { formatBytes, formatPercent, safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { healthOf, type Worker as WorkerRecord } from "./fleet";
import { History } from "./History";
import { HealthBadge, WorkerState } from "./marks";
import { Steering } from "./Steering";

type Execution = Schemas["Execution"];
const PAGE = 10;

export default function Worker() {
  const { id = "" } = useParams<{ id: string }>();
  const mayControl = useMay("workers:control");
  const back = { href: useHref()("/workers"), label: "Workers" };
  const worker = useApi("/v1/workers/{worker_id}", { path: { worker_id: id }, every: 3, keep: false });
  const found = worker.data;
  if (worker.error && !found) {
    return (
      <Page title={`Worker ${id}`} back={back}>
        <ErrorNote error={worker.error} retry={() => void worker.refetch()} />
      </Page>
    );
  }
  return (
    <Page
      title={found ? found.name : `Worker ${id}`}
      mark={
        found && (
          <>
            <WorkerState worker={found} />
            <HealthBadge worker={found} />
          </>
        )
      }
      about={found && `worker ${found.id} on ${safeText(found.host)}`}
      back={back}
      actions={found && mayControl && <Steering worker={found} />}
    >
      {found && <Steered worker={found} />}
      <Figures worker={found} />
      <Executions id={id} />
      <Grid least="26rem">
        <Panel title="Health history" flush>
          <Past id={id} />
        </Panel>
        <Panel title="About">{found && <About worker={found} />}</Panel>
      </Grid>
    </Page>
  );
}

function Steered({ worker }: { worker: WorkerRecord }) {
  if (worker.state === "lost") {
    return (
      <Note tone="danger" title="This worker is lost">
        Its lease ended without a heartbeat, and its jobs went to others. An agent that comes back has a new
        number.
      </Note>
    );
  }
  if (worker.state !== "draining") return null;
  return (
    <Note tone="info" title={worker.steer_until ? "In maintenance" : "Draining"}>
      {worker.steered_by && `By ${safeText(worker.steered_by)}. `}
      {worker.steer_reason && `${safeText(worker.steer_reason)}. `}
      {worker.steer_until ? (
        <>
          It takes jobs again <Time at={worker.steer_until} />.
        </>
      ) : (
        "It takes nothing new until somebody resumes it."
      )}
    </Note>
  );
}

function Figures({ worker }: { worker: WorkerRecord | undefined }) {
  const health = worker && healthOf(worker);
  return (
    <Stats label="Load">
      <Stat label="Slots in use" value={worker?.running} note={worker && `of ${worker.slots}`} />
      <Stat
        label="CPU"
        value={worker && share(worker.cpu_load)}
        note={worker?.cpus ? `${worker.cpus} cores` : undefined}
      />
      <Stat
        label="Memory"
        value={worker && share(worker.memory_load)}
        note={worker?.memory ? `of ${formatBytes(worker.memory)}` : undefined}
      />
      <Stat
        label="Last heartbeat"
        value={worker && <Time at={worker.seen_at} />}
        tone={health === "degraded" ? "warn" : undefined}
      />
      <Stat label="Joined" value={worker && <Time at={worker.joined_at} />} />
    </Stats>
  );
}

function share(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : formatPercent(value);
}

function About({ worker }: { worker: WorkerRecord }) {
  const labels = Object.entries(worker.labels ?? {});
  return (
    <Facts
      items={[
        ["Host", <Text key="host" value={worker.host} />],
        ["Serves", worker.tenant ? `tenant ${worker.tenant}` : "all tenants"],
        ["Region", worker.region ?? "–"],
        ["Zone", worker.zone ?? "–"],
        ["Type", worker.kind ?? "–"],
        Boolean(worker.gpus) && ["GPUs", worker.gpus],
        Boolean(worker.disk) && ["Disk for jobs", formatBytes(worker.disk ?? 0)],
        ["Kinds of task", (worker.kinds ?? []).join(", ")],
        ["Queues", worker.queues ? worker.queues.map(safeText).join(", ") : "all"],
        labels.length > 0 && [
          "Labels",
          labels.map(([name, value]) => safeText(`${name}=${String(value)}`)).join(", "),
        ],
        ["Tasks", worker.tasks.length > 0 ? worker.tasks.map(safeText).join(", ") : "–"],
        ["Version", worker.version || "–"],
      ]}
    />
  );
}

function Past({ id }: { id: string }) {
  const history = useApi("/v1/workers/{worker_id}/history", {
    path: { worker_id: id },
    every: 10,
    keep: false,
  });
  if (history.error) return <ErrorNote error={history.error} />;
  return <History events={history.data?.items ?? []} worker={Number(id)} />;
}

function Executions({ id }: { id: string }) {
  const pages = usePages("/v1/executions", { query: { worker_id: id, limit: PAGE }, live: 2, keep: false });
  const rows = pages.data?.pages.flatMap((page) => page.items);
  const href = useHref();
  return (
    <Panel title="What it ran" note="what runs now first" flush>
      {pages.error && <ErrorNote error={pages.error} />}
      <Table
        label="Executions"
        columns={COLUMNS}
        rows={rows}
        failed={pages.error !== null}
        rowKey={(one) => `${one.job_id} ${one.attempt}`}
        href={(one) => href(`/jobs/${one.job_id}`)}
        skeleton={4}
        empty={
          <Empty icon="jobs" title="It has run nothing yet" action={<Command text={`horae explain JOB`} />}>
            When jobs wait although it is free, ask one of them why:
          </Empty>
        }
      />
      <Pager
        about={`${rows?.length ?? 0} shown`}
        more={pages.hasNextPage}
        busy={pages.isFetchingNextPage}
        onMore={() => void pages.fetchNextPage()}
      />
    </Panel>
  );
}

const ENDS: Record<string, "good" | "danger" | "warn" | "neutral"> = {
  succeeded: "good",
  error: "danger",
  fatal: "danger",
  crashed: "danger",
  lost: "danger",
  timeout: "warn",
};

const COLUMNS: readonly Column<Execution>[] = [
  {
    id: "job",
    head: "Job",
    cell: (one) => <JobLink job={{ id: one.job_id, task: one.task ?? "" }} />,
  },
  { id: "task", head: "Task", grow: true, cell: (one) => <Text value={one.task ?? "–"} /> },
  { id: "attempt", head: "Attempt", align: "end", wide: true, cell: (one) => one.attempt },
  {
    id: "end",
    head: "End",
    cell: (one) => (
      <Badge tone={one.end ? (ENDS[one.end] ?? "neutral") : "info"} dot>
        {one.end ?? "running"}
      </Badge>
    ),
  },
  { id: "started", head: "Started", wide: true, cell: (one) => <Time at={one.started_at} /> },
  {
    id: "took",
    head: "Took",
    align: "end",
    wide: true,
    cell: (one) => <Duration since={one.started_at} until={one.ended_at} />,
  },
];
