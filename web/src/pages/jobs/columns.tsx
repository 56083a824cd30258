import type { Job } from "~/api/types";
import { JobLink, Made, ShortId, Took, WorkerLink } from "~/components/JobParts";
import { StateBadge } from "~/components/StateBadge";
import type { Column } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { cut } from "~/lib/text";
import styles from "./Jobs.module.css";

type JobColumn = Column<Job> & { name: string };

const SHOWN_PARAMS = 160;

export const COLUMNS: readonly JobColumn[] = [
  { id: "state", name: "State", head: "State", width: "7.5rem", cell: (job) => <JobState job={job} /> },
  { id: "task", name: "Task", head: "Task", cell: (job) => <JobLink job={job} by="task" /> },
  {
    id: "id",
    name: "Id",
    head: "Id",
    wide: true,
    cell: (job) => <ShortId id={job.id} />,
  },
  { id: "tenant", name: "Tenant", head: "Tenant", wide: true, cell: (job) => <Text value={job.tenant} /> },
  { id: "queue", name: "Queue", head: "Queue", wide: true, cell: (job) => <Text value={job.queue} /> },
  { id: "priority", name: "Priority", head: "Pri", align: "end", wide: true, cell: (job) => job.priority },
  {
    id: "params",
    name: "Parameters",
    head: "Parameters",
    grow: true,
    wide: true,
    cell: (job) => <Params job={job} />,
  },
  { id: "labels", name: "Labels", head: "Labels", wide: true, cell: (job) => <Labels job={job} /> },
  { id: "created", name: "Made", head: "Made", width: "6.5rem", cell: (job) => <Made job={job} /> },
  {
    id: "due",
    name: "Due",
    head: "Due",
    width: "6.5rem",
    wide: true,
    cell: (job) => <Time at={job.run_at} />,
  },
  {
    id: "started",
    name: "Started",
    head: "Started",
    width: "6.5rem",
    wide: true,
    cell: (job) => <Time at={job.started_at} />,
  },
  {
    id: "finished",
    name: "Ended",
    head: "Ended",
    width: "6.5rem",
    wide: true,
    cell: (job) => <Time at={job.finished_at} />,
  },
  {
    id: "took",
    name: "Took",
    head: "Took",
    align: "end",
    width: "5.5rem",
    wide: true,
    cell: (job) => <Took job={job} />,
  },
  {
    id: "attempt",
    name: "Attempt",
    head: "Try",
    align: "end",
    wide: true,
    cell: (job) => `${job.attempt ?? 0}/${job.max_attempts ?? 5}`,
  },
  {
    id: "worker",
    name: "Worker",
    head: "Worker",
    align: "end",
    wide: true,
    cell: (job) => <WorkerLink id={job.worker_id} />,
  },
  {
    id: "user",
    name: "Submitted by",
    head: "By",
    wide: true,
    cell: (job) => (job.user ? <Text value={job.user} /> : "–"),
  },
  {
    id: "error",
    name: "Error",
    head: "Error",
    grow: true,
    wide: true,
    cell: (job) => <ErrorWords job={job} />,
  },
];

export const USUAL = ["state", "task", "id", "queue", "params", "created", "took", "worker"];

/** The columns that the address names, else the usual ones; the tenant where several stand side by side. */
export function chosenColumns(text: string | null, tenants: boolean): JobColumn[] {
  const names = text ? text.split(",") : tenants ? [...USUAL, "tenant"] : USUAL;
  const found = COLUMNS.filter((column) => names.includes(column.id));
  return found.length > 0 ? found : COLUMNS.filter((column) => USUAL.includes(column.id));
}

function JobState({ job }: { job: Job }) {
  return <StateBadge state={job.state} quiet />;
}

function Params({ job }: { job: Job }) {
  return (
    <span className={styles.params}>
      <Text value={cut(JSON.stringify(job.params), SHOWN_PARAMS)} mono />
    </span>
  );
}

function Labels({ job }: { job: Job }) {
  return (
    <span className={styles.labels}>
      {Object.entries(job.labels ?? {}).map(([name, value]) => (
        <span key={name} className={styles.label}>
          <Text value={cut(`${name}:${value}`, 40)} />
        </span>
      ))}
    </span>
  );
}

function ErrorWords({ job }: { job: Job }) {
  if (!job.error) return "–";
  return <Text value={cut(`${job.error.kind}: ${job.error.message}`, SHOWN_PARAMS)} />;
}
