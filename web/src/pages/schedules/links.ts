import { useSession } from "~/api/session";

/** The address of a schedule's page; names may have slashes in them. Keys of no tenant name it. */
export function useScheduleHref(): (name: string, tenant: string, query?: Record<string, string>) => string {
  const free = !useSession()?.tenant;
  return (name, tenant, query = {}) => {
    const search = new URLSearchParams(free ? { ...query, tenant } : query).toString();
    return `/schedules/${encodeURIComponent(name)}${search === "" ? "" : `?${search}`}`;
  };
}
