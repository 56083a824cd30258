import { Link } from "wouter";
import type { Job } from "~/api/types";
import { Facts } from "~/components/Facts";
import { Took, WorkerLink } from "~/components/JobParts";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { cut } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import styles from "./Job.module.css";

/** All that was asked of a job, as far as it was said. */
export function Details({ job }: { job: Job }) {
  const href = useHref();
  const own = { tenant: job.tenant };
  const words = (value: unknown) => <Text value={cut(JSON.stringify(value), 400)} mono />;
  return (
    <Facts
      items={[
        [
          "Task",
          <Link key="task" href={href(`/tasks/${encodeURIComponent(job.task)}`, own)}>
            <Text value={job.task} />
          </Link>,
        ],
        [
          "Queue",
          <Link key="queue" href={href("/jobs", { queue: job.queue, ...own })}>
            <Text value={job.queue} />
          </Link>,
        ],
        ["Tenant", <Text key="tenant" value={job.tenant} />],
        ["Priority", job.priority],
        ["Due", <Time key="due" at={job.run_at} show="both" />],
        job.started_at ? ["Started", <Time key="started" at={job.started_at} show="both" />] : null,
        job.finished_at ? ["Ended", <Time key="ended" at={job.finished_at} show="both" />] : null,
        job.started_at ? ["Took", <Took key="took" job={job} />] : null,
        ["Attempt", `${job.attempt ?? 0} of ${job.max_attempts ?? 5}`],
        job.worker_id ? ["Worker", <WorkerLink key="worker" id={job.worker_id} />] : null,
        job.user ? ["Submitted by", <Text key="user" value={job.user} />] : null,
        job.timeout ? ["Timeout", job.timeout] : null,
        job.deadline ? ["Deadline", <Time key="deadline" at={job.deadline} show="both" />] : null,
        job.expires ? ["Expires", <Time key="expires" at={job.expires} show="both" />] : null,
        job.concurrency_key ? ["Concurrency key", <Text key="key" value={job.concurrency_key} mono />] : null,
        job.sticky ? ["Sticky key", <Text key="sticky" value={job.sticky} mono />] : null,
        job.spread ? ["Spread", job.spread] : null,
        job.retry ? ["Retry", words(job.retry)] : null,
        job.unique ? ["Unique", words(job.unique)] : null,
        job.requires ? ["Requires", words(job.requires)] : null,
        job.prefers ? ["Prefers", words(job.prefers)] : null,
        job.avoids ? ["Avoids", words(job.avoids)] : null,
        job.cloned_from
          ? [
              "Cloned from",
              <Link key="from" href={href(`/jobs/${job.cloned_from}`)}>
                {job.cloned_from}
              </Link>,
            ]
          : null,
        job.labels ? ["Labels", <Labels key="labels" labels={job.labels} tenant={job.tenant} />] : null,
      ]}
    />
  );
}

function Labels({ labels, tenant }: { labels: Record<string, string>; tenant: string }) {
  const href = useHref();
  return (
    <span className={styles.labels}>
      {Object.entries(labels).map(([name, value]) => (
        <Link key={name} href={href("/jobs", { label: `${name}:${value}`, tenant })} className={styles.label}>
          <Text value={`${name}: ${value}`} />
        </Link>
      ))}
    </span>
  );
}
