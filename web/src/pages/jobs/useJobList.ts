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
}

export const LIST_KEY = ["/v1/jobs", "list"] as const;

/**
 * The server looks at a bounded number of jobs for each answer, so a filter that matches little takes several: as many as
 * are quick, then the page shows how far it looked.
 */
const ROUNDS = 4;
const PATIENCE = 100;

export function useJobList({ filter, tenant, cursor, limit, live }: Asked) {
  return useQuery<JobListPage, ApiError>({
    queryKey: [...LIST_KEY, filter, tenant ?? null, cursor ?? null, limit],
    queryFn: ({ signal }) => readPage({ filter, tenant, cursor, limit, signal }),
    meta: live ? { live: 1 } : undefined,
    placeholderData: keepPreviousData,
  });
}

interface Read extends Omit<Asked, "live"> {
  signal: AbortSignal;
}

async function readPage({ filter, tenant, cursor, limit, signal }: Read): Promise<JobListPage> {
  const items: Job[] = [];
  let next = cursor;
  const began = performance.now();
  for (let round = 0; round < ROUNDS && (round === 0 || performance.now() - began < PATIENCE); round += 1) {
    const query = { ...listQuery(filter, new Date()), tenant, cursor: next, limit: limit - items.length };
    const page = await call("get", "/v1/jobs", { query, signal });
    items.push(...page.items);
    next = page.next_cursor ?? undefined;
    if (next === undefined || items.length >= limit) break;
  }
  return { items, next };
}
