/** One page of jobs, read again while it is looked at. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { call } from "~/api/call";
import type { ApiError } from "~/api/error";
import type { Job } from "~/api/types";
import { type JobFilter, listQuery } from "./filter";

export interface JobListPage {
  items: Job[];
  /** Where to go on; undefined at the end. */
  next: string | undefined;
}

interface Asked {
  filter: JobFilter;
  tenant: string | undefined;
  cursor: string | undefined;
  limit: number;
  live: boolean;
  enabled: boolean;
}

export const LIST_KEY = ["/v1/jobs", "list"] as const;

/**
 * The server looks at a bounded number of jobs for each answer, so a filter that matches little takes several: as many as
 * are quick, then the page shows how far it looked.
 */
const ROUNDS = 4;
const PATIENCE = 100;

export function useJobList({ filter, tenant, cursor, limit, live, enabled }: Asked) {
  return useQuery<JobListPage, ApiError>({
    queryKey: [...LIST_KEY, filter, tenant ?? null, cursor ?? null, limit],
    queryFn: ({ signal }) => readPage({ filter, tenant, cursor, limit, signal }),
    enabled,
    meta: live ? { live: 1 } : undefined,
    placeholderData: keepPreviousData,
  });
}

interface Read extends Omit<Asked, "live" | "enabled"> {
  signal: AbortSignal;
}

async function readPage({ filter, tenant, cursor, limit, signal }: Read): Promise<JobListPage> {
  const items = new Map<string, Job>();
  let next = cursor;
  const began = performance.now();
  for (let round = 0; round < ROUNDS && (round === 0 || performance.now() - began < PATIENCE); round += 1) {
    const query = { ...listQuery(filter, new Date()), tenant, cursor: next, limit: limit - items.size };
    const page = await call("get", "/v1/jobs", { query, signal });
    // A job that went on in between comes again, and the later is true.
    for (const job of page.items) {
      items.delete(job.id);
      items.set(job.id, job);
    }
    next = page.next_cursor ?? undefined;
    if (next === undefined || items.size >= limit) break;
  }
  return { items: [...items.values()], next };
}
