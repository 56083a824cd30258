import type { ReactNode } from "react";
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import type { Job, Schemas } from "~/api/types";
import { Badge } from "~/components/Badge";
import { Command } from "~/components/Copy";
import { ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { formatCount, plural } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import styles from "./Job.module.css";

type Explanation = Schemas["Explanation"];
type Reason = Schemas["Reason"];
type HeldBy = Schemas["HeldBy"];

/** Why it is not running, or what it waits for while it does; in plain words, with links to what holds it. */
export function Why({ job }: { job: Job }) {
  const path = { job_id: job.id };
  const told = useApi("/v1/jobs/{job_id}/explain", { path, live: 2, every: 5 });
  const waits = job.state !== "running";
  if (!waits && !told.data?.reasons?.length) return null;
  return (
    <Panel title={waits ? "Why is it not running?" : "What it waits for"}>
      {told.error && <ErrorNote error={told.error} />}
      {told.data === undefined ? <Skeleton height="5rem" /> : <Told told={told.data} job={job} />}
    </Panel>
  );
}

function Told({ told, job }: { told: Explanation; job: Job }) {
  return (
    <div className={styles.why}>
      {told.reasons?.length !== 1 && (
        <p className={styles.answer}>
          <Text value={told.answer} />
        </p>
      )}
      <Start told={told} />
      <ol className={styles.reasons}>
        {(told.reasons ?? []).map((reason, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a code may come twice, and the order is the meaning
          <li key={`${reason.code}-${at}`}>
            <ReasonWords reason={reason} tenant={job.tenant} />
          </li>
        ))}
      </ol>
      {(told.notes ?? []).map((note) => (
        <p key={note} className={styles.quiet}>
          <Text value={note} />
        </p>
      ))}
    </div>
  );
}

function Start({ told }: { told: Explanation }) {
  const { place, estimate, no_estimate: none } = told;
  if (told.state === "running") return null;
  return (
    <p className={styles.quiet}>
      {place && (
        <>
          {place.more
            ? `More than ${formatCount(place.number - 1)} before it in its lane.`
            : `Number ${formatCount(place.number)} in its lane.`}{" "}
        </>
      )}
      {estimate ? (
        <>
          Starts about <Time at={estimate.at} />
          {estimate.earliest !== estimate.latest && (
            <>
              , between <Time at={estimate.earliest} show="exact" /> and{" "}
              <Time at={estimate.latest} show="exact" />
            </>
          )}
          , reckoned from this: <Text value={estimate.basis} />.
        </>
      ) : (
        none && (
          <>
            When it starts cannot be said: <Text value={none} />.
          </>
        )
      )}
    </p>
  );
}

function ReasonWords({ reason, tenant }: { reason: Reason; tenant: string }) {
  return (
    <>
      <div className={styles.reasonHead}>
        <Badge tone="warn">{reason.code.replaceAll("_", " ")}</Badge>
        <strong>
          <Text value={reason.summary} />
        </strong>
      </div>
      <p className={styles.quiet}>
        What helps: <Text value={reason.resolve} />.
        {reason.until && (
          <>
            {" "}
            By itself <Time at={reason.until} show="both" />.
          </>
        )}
      </p>
      {reason.held_by && <Held by={reason.held_by} tenant={tenant} />}
      {reason.command && <Command text={reason.command} />}
    </>
  );
}

function Held({ by, tenant }: { by: HeldBy; tenant: string }) {
  const href = useHref();
  const parts: [string, ReactNode][] = [];
  if (by.gate)
    parts.push([
      "gate",
      <Link key="gate" href={href("/gates", { gate: String(by.gate.id) })}>
        Gate {by.gate.id} of <Text value={by.gate.owner} />
      </Link>,
    ]);
  if (by.limit)
    parts.push([
      "limit",
      <Link key="limit" href={href("/limits", { limit: by.limit.name, tenant })}>
        Limit <Text value={by.limit.name} />
      </Link>,
    ]);
  for (const job of by.jobs ?? []) {
    parts.push([
      job.id,
      <Link key={job.id} href={href(`/jobs/${job.id}`)}>
        <Text value={job.task} /> on worker {job.worker_id}, since <Time at={job.since} />
      </Link>,
    ]);
  }
  if (by.other_jobs) parts.push(["jobs", `${plural(by.other_jobs, "more job")}`]);
  for (const worker of by.workers ?? []) {
    parts.push([`w${worker.id}`, <WorkerWords key={worker.id} worker={worker} />]);
  }
  if (by.other_workers) parts.push(["workers", `${plural(by.other_workers, "more worker")}`]);
  for (const ahead of by.ahead ?? []) {
    parts.push([
      `a${ahead.tenant}`,
      `${ahead.more ? "more than " : ""}${plural(ahead.jobs, "job")} ahead${ahead.tenant ? ` of ${ahead.tenant}` : " of other tenants"}`,
    ]);
  }
  return (
    <ul className={styles.held} aria-label="Held by">
      {parts.map(([key, part]) => (
        <li key={key}>{part}</li>
      ))}
    </ul>
  );
}

function WorkerWords({ worker }: { worker: Schemas["HoldingWorker"] }) {
  const href = useHref();
  const lacks = worker.lacks?.join("; ") || worker.reason || "";
  return (
    <>
      <Link href={href(`/workers/${worker.id}`)}>
        Worker <Text value={worker.name} />
      </Link>
      , {worker.running ?? 0} of {worker.slots} slots taken
      {lacks && (
        <>
          : <Text value={lacks} />
        </>
      )}
    </>
  );
}
