import { useMemo } from "react";
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useMay, useTenant } from "~/api/session";
import type { Job } from "~/api/types";
import { ButtonLink } from "~/components/Button";
import { Stat, Stats } from "~/components/Facts";
import { JobLink, Made, Took } from "~/components/JobParts";
import { Empty, ErrorNote } from "~/components/Note";
import { Grid, Panel } from "~/components/Page";
import { Plot } from "~/components/Plot";
import { StateBadge } from "~/components/StateBadge";
import { type Column, Table } from "~/components/Table";
import { Segments } from "~/components/Tabs";
import { Text } from "~/components/Text";
import { useClock } from "~/lib/clock";
import { useSearchState } from "~/lib/search";
import { formatCount, formatPercent, formatShort } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import { useHref } from "~/shell/navigation";
import { RANGES, rangeOf, type Step, type Summary, sinceOf, summed } from "./figures";
import styles from "./Tasks.module.css";

/** How the jobs of a task did over time, and the newest of them. */
export function Overview({ name }: { name: string }) {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const range = rangeOf(params.get("range"));
  const since = useClock((now) => sinceOf(range, now));
  const asked = useApi("/v1/tasks/{name}/statistics", { path: { name }, query: { tenant, since }, live: 10 });
  const steps = asked.data?.items;
  const sum = useMemo(() => steps && summed(steps), [steps]);
  return (
    <div className={styles.stack}>
      {asked.error && <ErrorNote error={asked.error} retry={() => void asked.refetch()} />}
      <div>
        <Segments
          label="Time"
          choices={RANGES}
          value={range}
          onChange={(next) => change({ range: next === "1d" ? null : next })}
        />
      </div>
      <Figures sum={sum} />
      <Plots steps={steps ?? []} />
      <Grid least="28rem">
        <RecentJobs name={name} />
        <SchedulesOf name={name} />
      </Grid>
    </div>
  );
}

function Figures({ sum }: { sum: Summary | undefined }) {
  const time = (seconds: number | undefined) =>
    sum === undefined ? undefined : seconds === undefined ? "–" : formatDuration(seconds);
  return (
    <Stats label="Figures">
      <Stat
        label="Submitted"
        value={sum && formatShort(sum.submitted)}
        title={sum && formatCount(sum.submitted)}
      />
      <Stat
        label="Failed"
        value={sum && formatShort(sum.failed)}
        tone={sum && sum.failed > 0 ? "danger" : undefined}
        note={
          sum && sum.ended > 0
            ? `${formatPercent(sum.failed / sum.ended)} of ${formatShort(sum.ended)} ended`
            : undefined
        }
      />
      <Stat label="Tried again" value={sum && formatShort(sum.retried)} />
      <Stat label="Run, p50" value={time(sum?.p50)} note="estimate" />
      <Stat label="Run, p95" value={time(sum?.p95)} note="estimate" />
      <Stat label="Waited" value={time(sum?.wait)} note="mean, from due" />
    </Stats>
  );
}

function Plots({ steps }: { steps: readonly Step[] }) {
  const drawn = useMemo(() => {
    const counts = (name: "succeeded" | "failed" | "cancelled") => steps.map((step) => step[name] ?? 0);
    const seconds = (name: "p50" | "p95") => steps.map((step) => step[name] ?? null);
    return {
      times: steps.map((step) => Date.parse(step.at) / 1000),
      ends: [
        { label: "succeeded", color: "--state-succeeded", values: counts("succeeded") },
        { label: "failed", color: "--state-failed", values: counts("failed") },
        { label: "cancelled", color: "--state-cancelled", values: counts("cancelled") },
      ],
      runs: [
        { label: "p50", color: "--accent", values: seconds("p50") },
        { label: "p95", color: "--state-ready", values: seconds("p95"), dashed: true },
      ],
    };
  }, [steps]);
  return (
    <Grid least="28rem">
      <Panel title="Jobs that ended" note="in each step">
        <Plot label="Jobs that ended, by outcome" times={drawn.times} series={drawn.ends} kind="bars" />
      </Panel>
      <Panel title="Duration of runs">
        <Plot
          label="Duration of runs, p50 and p95"
          times={drawn.times}
          series={drawn.runs}
          format={formatDuration}
        />
      </Panel>
    </Grid>
  );
}

function RecentJobs({ name }: { name: string }) {
  const tenant = useTenant();
  const jobs = useApi("/v1/jobs", { query: { tenant, task: name, limit: 10 }, live: 2 });
  const href = useHref();
  const all = href("/jobs", { task: name });
  return (
    <Panel
      title="Newest jobs"
      flush
      actions={
        <ButtonLink small href={all}>
          All jobs
        </ButtonLink>
      }
    >
      {jobs.error && <ErrorNote error={jobs.error} />}
      <Table
        label="Newest jobs"
        columns={JOBS}
        rows={jobs.data?.items}
        failed={jobs.error !== null}
        rowKey={(job) => job.id}
        href={(job) => href(`/jobs/${job.id}`)}
        skeleton={5}
        empty={
          <Empty title="No job of this task is kept" icon="jobs">
            Submit one above, or with <code>horae submit</code>.
          </Empty>
        }
      />
    </Panel>
  );
}

const JOBS: readonly Column<Job>[] = [
  { id: "state", head: "State", width: "7rem", cell: (job) => <StateBadge state={job.state} quiet /> },
  {
    id: "job",
    head: "Job",
    grow: true,
    cell: (job) => <JobLink job={job} />,
  },
  { id: "took", head: "Took", align: "end", width: "6rem", cell: (job) => <Took job={job} /> },
  { id: "made", head: "Made", width: "6rem", cell: (job) => <Made job={job} /> },
];

function SchedulesOf({ name }: { name: string }) {
  const tenant = useTenant();
  const href = useHref();
  const may = useMay("schedules:read");
  const list = useApi("/v1/schedules", { query: { tenant, task: name, limit: 10 }, enabled: may, every: 30 });
  const schedules = list.data?.items;
  if (!may) return null;
  return (
    <Panel title="Schedules" note="that make jobs of it">
      {list.error && <ErrorNote error={list.error} />}
      {schedules?.length === 0 && (
        <p className={styles.quiet}>None: its jobs are submitted by programs and people.</p>
      )}
      <ul className={styles.stack}>
        {schedules?.map((schedule) => (
          <li key={`${schedule.tenant} ${schedule.definition.name}`}>
            <Link
              href={href(`/schedules/${encodeURIComponent(schedule.definition.name)}`, {
                tenant: schedule.tenant,
              })}
            >
              <Text value={schedule.definition.name} />
            </Link>{" "}
            <span className={styles.quiet}>
              <Text value={schedule.words?.join("; ") ?? ""} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
