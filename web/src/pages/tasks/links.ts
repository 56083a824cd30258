import { keepTenant } from "~/shell/navigation";
import type { Task } from "./figures";

/** A task is its tenant's: who looks at all tenants is led to the one that has it. */
export function taskHref(task: Task, tenant: string | undefined): string {
  return keepTenant(`/tasks/${encodeURIComponent(task.definition.name)}`, tenant ?? task.tenant ?? null);
}

/** Whose task a change is about, as a query; a task that all tenants may use is nobody's. */
export function ownerQuery(task: Task): { tenant?: string } {
  return task.tenant ? { tenant: task.tenant } : {};
}
