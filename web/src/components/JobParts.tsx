/** Of jobs, what many pages show of them. */
import { Link } from "wouter";
import type { Job } from "~/api/types";
import { useClock } from "~/lib/clock";
import { useHref } from "~/shell/navigation";
import styles from "./JobParts.module.css";
import { Text } from "./Text";
import { Duration, Time } from "./Time";

/** Ids of one moment begin alike: their end tells them apart. */
export function ShortId({ id }: { id: string }) {
  return (
    <code title={id}>
      {id.slice(0, 8)}…{id.slice(-6)}
    </code>
  );
}

/** To a job, by its task or, where all are of one task, by its id. */
export function JobLink({ job, by = "id" }: { job: Pick<Job, "id" | "task">; by?: "id" | "task" }) {
  const href = useHref();
  return (
    <Link href={href(`/jobs/${job.id}`)} className={styles.job}>
      {by === "task" ? <Text value={job.task} /> : <ShortId id={job.id} />}
    </Link>
  );
}

export function WorkerLink({ id }: { id: number | null | undefined }) {
  const href = useHref();
  return id == null ? "–" : <Link href={href(`/workers/${id}`)}>{id}</Link>;
}

export function Took({ job }: { job: Job }) {
  return job.started_at ? <Duration since={job.started_at} until={job.finished_at} /> : <Duration />;
}

/** When it was made; of one that a schedule made ahead, when it is due: its id has that time. */
export function Made({ job, word }: { job: Job; word?: "made" }) {
  const ahead = useClock((now) => Date.parse(job.created_at) > now.getTime());
  return (
    <>
      {ahead ? "due" : word} <Time at={ahead ? job.run_at : job.created_at} />
    </>
  );
}
