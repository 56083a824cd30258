/** The fleet: by region and type, how full it is, what each worker runs and how it fares. */
import { Link } from "wouter";
import { usePages } from "~/api/hooks";
import { useAllTenants, useMay, useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Stat, Stats } from "~/components/Facts";
import { SearchField, Select, Toolbar } from "~/components/Field";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { useFirst } from "~/components/Pager";
import { type Column, Table } from "~/components/Table";
import { Unseen } from "~/components/Text";
import { Time } from "~/components/Time";
import { useSearchState } from "~/lib/search";
import { formatCount, plural, safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { groupId, groupsOf, healthOf, lives, matches, type Worker } from "./fleet";
import { Groups } from "./Groups";
import { HealthBadge, Share, SlotUse, WorkerState } from "./marks";
import { Steering } from "./Steering";
import styles from "./Workers.module.css";

const STATES = [
  { value: "", label: "Active and draining" },
  { value: "active", label: "Active" },
  { value: "draining", label: "Draining" },
  { value: "left,lost", label: "Left and lost" },
  { value: "active,draining,left,lost", label: "All" },
];
const TASKS_SHOWN = 3;

export default function Workers() {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const state = params.get("state") ?? "";
  const workers = usePages("/v1/workers", { query: { tenant, runs: true, state }, every: 3, live: 3 });
  const mayControl = useMay("workers:control");
  const allTenants = useAllTenants();
  const href = useHref();
  const all = workers.data?.pages.flatMap((page) => page.items);
  const more = workers.hasNextPage;
  const group = params.get("group");
  const text = params.get("text") ?? "";
  const { drawn, pager } = useFirst(
    all?.filter((one) => (group === null || groupId(one) === group) && matches(one, text)),
    "worker",
  );
  return (
    <Page
      title="Workers"
      about="The agents that run jobs: how full they are, what they run and how they fare."
    >
      {workers.error && <ErrorNote error={workers.error} retry={() => void workers.refetch()} />}
      {more && (
        <Note
          tone="info"
          title={
            all?.length === 1
              ? "This is the worker that joined last"
              : `These are the ${formatCount(all?.length ?? 0)} workers that joined last`
          }
          action={
            <Button small busy={workers.isFetchingNextPage} onClick={() => void workers.fetchNextPage()}>
              Read more
            </Button>
          }
        >
          There are more: figures, groups and the search are of these.
        </Note>
      )}
      <FleetStats workers={all} more={more} />
      {all && all.length > 0 && (
        <Groups groups={groupsOf(all)} more={more} chosen={group} onChoose={(id) => change({ group: id })} />
      )}
      <Toolbar label="Filter workers">
        <SearchField label="Search workers" value={text} onChange={(value) => change({ text: value })} />
        <Select
          bare
          label="State"
          value={state}
          choices={STATES}
          onChange={(value) => change({ state: value })}
        />
      </Toolbar>
      <Panel flush>
        <Table
          label="Workers"
          columns={columns(allTenants, mayControl)}
          rows={drawn}
          failed={workers.error !== null}
          rowKey={(worker) => String(worker.id)}
          href={(worker) => href(`/workers/${worker.id}`)}
          empty={<NoWorker filtered={Boolean(all?.length || state)} />}
        />
      </Panel>
      {pager}
    </Page>
  );
}

interface FleetProps {
  workers: readonly Worker[] | undefined;
  /** There are more of them than are known. */
  more: boolean;
}

function FleetStats({ workers, more }: FleetProps) {
  const living = workers?.filter(lives);
  const slots = living?.reduce((sum, worker) => sum + worker.slots, 0);
  const running = living?.reduce((sum, worker) => sum + worker.running, 0);
  const known = (figure: number | undefined) =>
    figure === undefined ? undefined : `${formatCount(figure)}${more ? "+" : ""}`;
  const draining = living?.filter((worker) => worker.state === "draining").length;
  const troubled = living?.filter((worker) => healthOf(worker) !== "healthy").length;
  return (
    <Stats label="The fleet">
      <Stat
        label="Workers"
        value={known(living?.length)}
        note={draining ? `${draining} draining` : undefined}
      />
      <Stat
        label="Slots in use"
        value={known(running)}
        note={slots !== undefined ? `of ${known(slots)}` : undefined}
      />
      <Stat
        label="Free slots"
        value={slots !== undefined && running !== undefined ? known(Math.max(0, slots - running)) : undefined}
      />
      <Stat
        label="Unhealthy"
        value={known(troubled)}
        tone={troubled ? "warn" : undefined}
        note={troubled ? "late, full or on probation" : "all are healthy"}
      />
    </Stats>
  );
}

function columns(allTenants: boolean, mayControl: boolean): Column<Worker>[] {
  const all: (Column<Worker> | false)[] = [
    { id: "worker", head: "Worker", cell: (worker) => <Who worker={worker} /> },
    {
      id: "slots",
      head: "Slots",
      width: "8rem",
      cell: (worker) => (
        <SlotUse running={worker.running} slots={worker.slots} label={`Slots of ${safeText(worker.name)}`} />
      ),
    },
    { id: "health", head: "Health", cell: (worker) => <HealthBadge worker={worker} />, width: "8rem" },
    {
      id: "state",
      head: "State",
      cell: (worker) => <WorkerState worker={worker} />,
      width: "7rem",
      wide: true,
    },
    { id: "cpu", head: "CPU", wide: true, align: "end", cell: (worker) => <Share value={worker.cpu_load} /> },
    {
      id: "memory",
      head: "Memory",
      wide: true,
      align: "end",
      cell: (worker) => <Share value={worker.memory_load} />,
    },
    { id: "runs", head: "Runs", grow: true, wide: true, cell: (worker) => <Runs worker={worker} /> },
    allTenants && { id: "tenant", head: "Serves", wide: true, cell: (worker) => worker.tenant ?? "all" },
    { id: "seen", head: "Seen", wide: true, cell: (worker) => <Time at={worker.seen_at} />, width: "6rem" },
    mayControl && {
      id: "steer",
      head: <Unseen>Actions</Unseen>,
      align: "end",
      width: "3rem",
      cell: (worker) => <Steering bare worker={worker} />,
    },
  ];
  return all.filter((column) => column !== false);
}

function Who({ worker }: { worker: Worker }) {
  const href = useHref();
  return (
    <span className={styles.who}>
      <Link href={href(`/workers/${worker.id}`)}>{safeText(worker.name)}</Link>
      <small>
        {worker.id} · {safeText(worker.host)}
      </small>
    </span>
  );
}

function Runs({ worker }: { worker: Worker }) {
  const runs = worker.runs ?? [];
  if (runs.length === 0) return <span className={styles.faint}>nothing</span>;
  return (
    <span className={styles.runs} title={runs.map((run) => `${safeText(run.task)} × ${run.jobs}`).join("\n")}>
      {runs.slice(0, TASKS_SHOWN).map((run) => (
        <Badge key={run.task}>
          {safeText(run.task)}
          {run.jobs > 1 && ` × ${run.jobs}`}
        </Badge>
      ))}
      {runs.length > TASKS_SHOWN && (
        <span className={styles.faint}>and {plural(runs.length - TASKS_SHOWN, "task")} more</span>
      )}
    </span>
  );
}

function NoWorker({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty icon="workers" title="No worker matches">
        Take a filter away to see more.
      </Empty>
    );
  return (
    <Empty
      icon="workers"
      title="No worker is there"
      action={<Command text="horae worker --app module:app" />}
    >
      Jobs wait until one joins. Start one where your code is:
    </Empty>
  );
}
