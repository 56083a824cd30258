import type { UseQueryResult } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { client } from "~/api/client";
import type { ApiError } from "~/api/error";
import { useApi } from "~/api/hooks";
import type { Job } from "~/api/types";

const PATH = "/v1/jobs/{job_id}";

/**
 * One job: read again with the pulses and, while it runs, every two seconds, for no pulse tells of progress. It is not
 * followed by a stream of its own: a browser opens six connections to a host for all its windows together, and each
 * window has one for the pulses and one for the log already.
 */
export function useJob(id: string): UseQueryResult<Job, ApiError> {
  const options = { path: { job_id: id }, live: 1, keep: false };
  const running = useApi(PATH, options).data?.state === "running";
  const job = useApi(PATH, { ...options, every: running ? 2 : undefined });
  usePartsReadAgain(id, job.data && `${job.data.state} ${job.data.attempt}`);
  return job;
}

/** What is shown of the job besides, such as its last partial results, is read once more when its state has changed. */
function usePartsReadAgain(id: string, state: string | undefined): void {
  const before = useRef<string>(undefined);
  useEffect(() => {
    if (before.current !== undefined && state !== undefined && before.current !== state) {
      const ofThisJob = (part: unknown) => (part as { job_id?: string } | null)?.job_id === id;
      void client.invalidateQueries({
        predicate: ({ queryKey }) => ofThisJob(queryKey[1]) && queryKey[0] !== PATH,
      });
    }
    before.current = state;
  }, [id, state]);
}
