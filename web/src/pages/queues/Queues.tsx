/** The queues: how much waits and runs in each, how fast, and how long the oldest has waited. */
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useAllTenants, useTenant } from "~/api/session";
import type { Schemas } from "~/api/types";
import { Badge } from "~/components/Badge";
import { Command } from "~/components/Copy";
import { Stat, Stats } from "~/components/Facts";
import { SearchField, Toolbar } from "~/components/Field";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { useFirst } from "~/components/Pager";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { useSearchState, withChanges } from "~/lib/search";
import { formatCount, formatNumber, formatShort, safeText } from "~/lib/text";
import { type Href, useHref } from "~/shell/navigation";
import { growthOf } from "./flow";
import { Queue } from "./Queue";

type QueueRecord = Schemas["Queue"];

export default function Queues() {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const queues = useApi("/v1/queues", { query: { tenant }, live: 2, every: 5 });
  const allTenants = useAllTenants();
  const text = params.get("text") ?? "";
  const chosen = params.get("queue");
  const rows = queues.data?.items
    .filter((queue) => `${queue.tenant} ${queue.queue}`.toLowerCase().includes(text.trim().toLowerCase()))
    .sort((one, two) => two.pending + two.running - (one.pending + one.running));
  const { drawn, pager } = useFirst(rows, "queue");
  const jobHref = useHref();
  const href = (queue: QueueRecord) =>
    `/queues?${withChanges(params, { queue: queue.queue, of: allTenants ? queue.tenant : null })}`;
  return (
    <Page
      title="Queues"
      about="Where jobs wait: depth, flow and the oldest that waits. Figures are a second or two old."
    >
      {queues.error && <ErrorNote error={queues.error} retry={() => void queues.refetch()} />}
      <Totals queues={queues.data?.items} />
      {queues.data?.more && (
        <Note>
          The server tells of {formatCount(queues.data.items.length)} queues at most: with any others, these
          are at least the figures.
        </Note>
      )}
      <Toolbar label="Filter queues">
        <SearchField label="Search queues" value={text} onChange={(value) => change({ text: value })} />
      </Toolbar>
      <Panel flush>
        <Table
          label="Queues"
          columns={allTenants ? [TENANT, ...columns(href, jobHref)] : columns(href, jobHref)}
          rows={drawn}
          failed={queues.error !== null}
          rowKey={(queue) => `${queue.tenant} ${queue.queue}`}
          href={href}
          empty={
            <Empty
              icon="queues"
              title={text ? "No queue matches" : "No queue yet"}
              action={!text && <Command text="horae submit TASK" />}
            >
              {text ? "Take the filter away to see more." : "A queue is there with its first job:"}
            </Empty>
          }
        />
      </Panel>
      {pager}
      {chosen !== null && (
        <Queue
          queue={chosen}
          tenant={tenant ?? params.get("of") ?? undefined}
          onClose={() => change({ queue: null, of: null, range: null })}
        />
      )}
    </Page>
  );
}

function Totals({ queues }: { queues: readonly QueueRecord[] | undefined }) {
  const sum = (of: (queue: QueueRecord) => number) => queues?.reduce((total, queue) => total + of(queue), 0);
  const pending = sum((queue) => queue.pending);
  const into = sum((queue) => queue.submit_rate) ?? 0;
  const started = sum((queue) => queue.start_rate) ?? 0;
  const failed = sum((queue) => queue.failure_rate) ?? 0;
  const oldest = queues
    ?.map((queue) => queue.oldest_at)
    .filter(Boolean)
    .sort()[0];
  return (
    <Stats label="All queues">
      <Stat
        label="Waiting"
        value={pending !== undefined ? formatShort(pending) : undefined}
        title={String(pending ?? "")}
      />
      <Stat label="Running" value={queues && formatShort(sum((queue) => queue.running) ?? 0)} />
      <Stat label="Submitted" value={queues && formatNumber(into)} unit="/s" note="over the last minute" />
      <Stat label="Started" value={queues && formatNumber(started)} unit="/s" />
      <Stat
        label="Failed"
        value={queues && formatNumber(failed)}
        unit="/s"
        tone={failed > 0 ? "danger" : undefined}
      />
      <Stat label="Oldest waiting" value={queues && <Time at={oldest} />} note="of those first in line" />
    </Stats>
  );
}

const TENANT: Column<QueueRecord> = {
  id: "tenant",
  head: "Tenant",
  wide: true,
  cell: (queue) => <Text value={queue.tenant} />,
};

function columns(href: (queue: QueueRecord) => string, jobHref: Href): Column<QueueRecord>[] {
  const rate = (
    id: string,
    head: string,
    of: (queue: QueueRecord) => number,
    wide = true,
  ): Column<QueueRecord> => ({
    id,
    head,
    align: "end",
    wide,
    cell: (queue) => formatNumber(of(queue)),
  });
  return [
    {
      id: "queue",
      head: "Queue",
      grow: true,
      cell: (queue) => <Link href={href(queue)}>{safeText(queue.queue)}</Link>,
    },
    { id: "pending", head: "Waiting", align: "end", cell: (queue) => formatCount(queue.pending) },
    { id: "running", head: "Running", align: "end", cell: (queue) => formatCount(queue.running) },
    rate("in", "Submitted /s", (queue) => queue.submit_rate),
    rate("started", "Started /s", (queue) => queue.start_rate),
    rate("done", "Succeeded /s", (queue) => queue.success_rate),
    rate("failed", "Failed /s", (queue) => queue.failure_rate),
    rate("retried", "Retried /s", (queue) => queue.retry_rate),
    { id: "trend", head: "Trend", cell: (queue) => <Trend queue={queue} />, wide: true },
    {
      id: "oldest",
      head: "Oldest waiting",
      cell: (queue) =>
        queue.oldest_job ? (
          <Link href={jobHref(`/jobs/${queue.oldest_job}`)}>
            <Time at={queue.oldest_at} />
          </Link>
        ) : (
          <Time at={null} />
        ),
    },
  ];
}

function Trend({ queue }: { queue: QueueRecord }) {
  const grows = growthOf(queue);
  if (grows === 0) return <Badge>steady</Badge>;
  return grows > 0 ? (
    <Badge tone="warn" title={`${formatNumber(grows)} jobs a second more come in than start`}>
      ▲ growing
    </Badge>
  ) : (
    <Badge tone="good" title={`${formatNumber(-grows)} jobs a second more start than come in`}>
      ▼ shrinking
    </Badge>
  );
}
