/** The fleet: by region and type, how full it is, what each worker runs and how it fares. */
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useAllTenants, useMay, useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Command } from "~/components/Copy";
import { Stat, Stats } from "~/components/Facts";
import { SearchField, Select, Toolbar } from "~/components/Field";
import { Empty, ErrorNote } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { type Column, Table } from "~/components/Table";
import { Time } from "~/components/Time";
import { useSearchState } from "~/lib/search";
import { formatCount, plural, safeText } from "~/lib/text";
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
  const workers = useApi("/v1/workers", { query: { tenant, runs: true, state }, every: 3, live: 3 });
  const mayControl = useMay("workers:control");
  const allTenants = useAllTenants();
  const all = workers.data?.items;
  const group = params.get("group");
  const text = params.get("text") ?? "";
  const shown = all?.filter((one) => (group === null || groupId(one) === group) && matches(one, text));
  return (
    <Page
      title="Workers"
      about="The agents that run jobs: how full they are, what they run and how they fare."
    >
      {workers.error && <ErrorNote error={workers.error} retry={() => void workers.refetch()} />}
      <FleetStats workers={all} />
      {all && all.length > 0 && (
        <Groups groups={groupsOf(all)} chosen={group} onChoose={(id) => change({ group: id })} />
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
          rows={shown}
          rowKey={(worker) => String(worker.id)}
          href={(worker) => `/workers/${worker.id}`}
          empty={<NoWorker filtered={Boolean(all?.length || state)} />}
        />
      </Panel>
    </Page>
  );
}

function FleetStats({ workers }: { workers: readonly Worker[] | undefined }) {
  const living = workers?.filter(lives);
  const slots = living?.reduce((sum, worker) => sum + worker.slots, 0);
  const running = living?.reduce((sum, worker) => sum + worker.running, 0);
  const draining = living?.filter((worker) => worker.state === "draining").length;
  const troubled = living?.filter((worker) => healthOf(worker) !== "healthy").length;
  return (
    <Stats label="The fleet">
      <Stat
        label="Workers"
        value={living && formatCount(living.length)}
        note={draining ? `${draining} draining` : undefined}
      />
      <Stat
        label="Slots in use"
        value={running !== undefined ? formatCount(running) : undefined}
        note={slots !== undefined ? `of ${formatCount(slots)}` : undefined}
      />
      <Stat
        label="Free slots"
        value={
          slots !== undefined && running !== undefined ? formatCount(Math.max(0, slots - running)) : undefined
        }
      />
      <Stat
        label="Not well"
        value={troubled}
        tone={troubled ? "warn" : undefined}
        note={troubled ? "degraded, overloaded or on probation" : "all are healthy"}
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
      width: "9rem",
      cell: (worker) => (
        <SlotUse running={worker.running} slots={worker.slots} label={`Slots of ${safeText(worker.name)}`} />
      ),
    },
    { id: "health", head: "Health", cell: (worker) => <HealthBadge worker={worker} />, width: "8rem" },
    { id: "state", head: "State", cell: (worker) => <WorkerState worker={worker} />, width: "7rem" },
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
    { id: "seen", head: "Seen", cell: (worker) => <Time at={worker.seen_at} />, width: "6rem" },
    mayControl && {
      id: "steer",
      head: <span className={styles.unseen}>Actions</span>,
      align: "end",
      width: "3rem",
      cell: (worker) => <Steering bare worker={worker} />,
    },
  ];
  return all.filter((column) => column !== false);
}

function Who({ worker }: { worker: Worker }) {
  return (
    <span className={styles.who}>
      <Link href={`/workers/${worker.id}`}>{safeText(worker.name)}</Link>
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
