import { useCallback } from "react";
import { address } from "~/api/call";
import { client } from "~/api/client";
import type { State } from "~/api/types";
import { ENDED_STATES } from "~/components/StateBadge";
import { useEvents } from "~/live/hooks";

/** Reads what is shown of a job again as soon as its state, attempt or progress changes. */
export function useJobEvents(id: string, state: State | undefined): void {
  const over = state === undefined || ENDED_STATES.includes(state);
  const read = useCallback(() => {
    const ofThisJob = (part: unknown) => (part as { job_id?: string } | null)?.job_id === id;
    void client.invalidateQueries({ predicate: ({ queryKey }) => ofThisJob(queryKey[1]) });
  }, [id]);
  useEvents(over ? null : address("/v1/jobs/{job_id}/events", { job_id: id }), { state: read });
}
