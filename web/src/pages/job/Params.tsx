import { useQuery } from "@tanstack/react-query";
import { address } from "~/api/call";
import { ApiError, problemOf } from "~/api/error";
import type { Job, Schemas } from "~/api/types";
import { Json } from "~/components/Json";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Grid, Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { ENDED_STATES } from "~/components/StateBadge";
import { LongText, Text } from "~/components/Text";
import { formatBytes } from "~/lib/text";
import { inexactIn } from "~/params/exact";
import styles from "./Job.module.css";

/** What it was given and what came of it. */
export function Params({ job }: { job: Job }) {
  return (
    <Grid least="24rem">
      <Panel title="Params">
        <Json value={job.params} label="value of the params" />
        <Rounded value={job.params} id={job.id} />
      </Panel>
      <Panel title="Result">
        {job.error ? (
          <p className={styles.quiet}>It has none: it {job.state}. The error is above.</p>
        ) : (
          <Result job={job} />
        )}
      </Panel>
    </Grid>
  );
}

export function ErrorWords({ error }: { error: Schemas["JobError"] }) {
  return (
    <div className={styles.error}>
      <strong>
        <Text value={error.kind} />
      </strong>
      <LongText value={error.message} label="error message" />
      {error.traceback && <LongText value={error.traceback} label="traceback" />}
    </div>
  );
}

/** A result may have 64 MiB: more than this is offered to be downloaded, not shown. */
const MOST = 1024 * 1024;

type Fetched = { value: unknown } | { bytes: number };

function Result({ job }: { job: Job }) {
  const path = address("/v1/jobs/{job_id}/result", { job_id: job.id });
  const over = ENDED_STATES.includes(job.state);
  const result = useQuery<Fetched, ApiError>({
    queryKey: [path, { job_id: job.id }, job.state],
    queryFn: ({ signal }) => fetchResult(path, signal),
    enabled: over,
    retry: false,
  });
  if (!over)
    return (
      <Empty title="No result yet" icon="clock">
        It is there when the job has succeeded.
      </Empty>
    );
  if (result.error) return <ErrorNote error={result.error} />;
  if (result.data === undefined) return <Skeleton height="6rem" />;
  if ("bytes" in result.data) {
    return (
      <Note
        action={
          <a href={path} download={`${job.id}.json`}>
            Download
          </a>
        }
      >
        The result has {formatBytes(result.data.bytes)}: too much to show.
      </Note>
    );
  }
  return (
    <>
      <Json value={result.data.value} label="value of the result" />
      <Rounded value={result.data.value} id={job.id} />
    </>
  );
}

function Rounded({ value, id }: { value: unknown; id: string }) {
  if (inexactIn(value) === undefined) return null;
  return (
    <Note tone="warn">
      A number here is larger than a browser keeps exactly: what you see may be rounded. Exactly it is told by{" "}
      <code>horae job {id} --json</code> and <code>horae result {id}</code>.
    </Note>
  );
}

async function fetchResult(path: string, signal: AbortSignal): Promise<Fetched> {
  const leave = new AbortController();
  const response = await fetch(path, { signal: AbortSignal.any([signal, leave.signal]) });
  if (!response.ok) throw new ApiError(await problemOf(response));
  const bytes = Number(response.headers.get("content-length"));
  if (bytes > MOST) {
    leave.abort();
    return { bytes };
  }
  return { value: ((await response.json()) as { result?: unknown }).result ?? null };
}
