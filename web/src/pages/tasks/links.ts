import { useHref } from "~/shell/navigation";
import type { Task } from "./figures";

/** Makes the addresses of tasks. A task is its tenant's: who looks at all is led to the one that has it. */
export function useTaskHref(): (task: Task) => string {
  const href = useHref();
  return (task) => href(`/tasks/${encodeURIComponent(task.definition.name)}`, { tenant: task.tenant });
}

/** Whose task a change is about, as a query; a task that all tenants may use is nobody's. */
export function ownerQuery(task: Task): { tenant?: string } {
  return task.tenant ? { tenant: task.tenant } : {};
}
