import { useHref } from "~/shell/navigation";

/** The address of a schedule's page; names may have slashes in them. */
export function useScheduleHref(): (name: string, tenant: string) => string {
  const href = useHref();
  return (name, tenant) => href(`/schedules/${encodeURIComponent(name)}`, { tenant });
}
