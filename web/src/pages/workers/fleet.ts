/** The fleet as records: health in words, groups by place and type, and what may be done to a worker. */
import type { Schemas } from "~/api/types";
import type { Tone } from "~/components/Badge";

export type Worker = Schemas["Worker"];
export type Health = "healthy" | "overloaded" | "degraded" | "probation" | "gone";

export interface HealthWords {
  label: string;
  tone: Tone;
  /** What it means, for whoever points at it. */
  why: string;
}

export const HEALTH: Record<Health, HealthWords> = {
  healthy: { label: "healthy", tone: "good", why: "Its heartbeats come in time." },
  overloaded: {
    label: "overloaded",
    tone: "warn",
    why: "Its host uses more than 95 % of its CPU or memory.",
  },
  degraded: { label: "degraded", tone: "warn", why: "A heartbeat is late." },
  probation: {
    label: "on probation",
    tone: "warn",
    why: "Its jobs kept failing while the same tasks do well elsewhere: it gets one job at a time until one succeeds.",
  },
  gone: { label: "gone", tone: "neutral", why: "It has left, or its lease has ended." },
};

export function healthOf(worker: Worker): Health {
  if (worker.health === "gone" || worker.health === "degraded") return worker.health;
  if (worker.probation) return "probation";
  return worker.health in HEALTH ? (worker.health as Health) : "healthy";
}

export function lives(worker: Worker): boolean {
  return healthOf(worker) !== "gone";
}

/** One that is gone is nobody's to steer, one that serves all tenants only that of keys of none. */
export function maySteer(worker: Worker, tenant: string | null | undefined): boolean {
  return lives(worker) && (!tenant || worker.tenant === tenant);
}

export interface Group {
  /** Its value in the query string. */
  id: string;
  /** Null where its workers say nothing of it. */
  region: string | null;
  kind: string | null;
  workers: Worker[];
  slots: number;
  running: number;
  /** How many are not as they should be. */
  troubled: number;
}

export function groupId(worker: Worker): string {
  return `${worker.region ?? ""}/${worker.kind ?? ""}`;
}

/** By region and type, in the order of their names; those that say nothing of themselves come last. */
export function groupsOf(workers: readonly Worker[]): Group[] {
  const groups = new Map<string, Group>();
  for (const worker of workers) {
    const id = groupId(worker);
    const group = groups.get(id) ?? {
      id,
      region: worker.region ?? null,
      kind: worker.kind ?? null,
      workers: [],
      slots: 0,
      running: 0,
      troubled: 0,
    };
    group.workers.push(worker);
    if (lives(worker)) {
      group.slots += worker.slots;
      group.running += worker.running;
    }
    if (!["healthy", "gone"].includes(healthOf(worker))) group.troubled += 1;
    groups.set(id, group);
  }
  return [...groups.values()].sort((one, two) => order(one).localeCompare(order(two)));
}

function order(group: Group): string {
  const last = "\uffff";
  return `${group.region ?? last}/${group.kind ?? last}`;
}

/** Whether a worker is meant by what was typed: its name, number, host, place, a task or a queue of it. */
export function matches(worker: Worker, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return true;
  const said = [
    worker.name,
    String(worker.id),
    worker.host,
    worker.region,
    worker.zone,
    worker.kind,
    worker.state,
  ];
  const labels = Object.entries(worker.labels ?? {}).map(([name, value]) => `${name}=${String(value)}`);
  return [...said, ...labels, ...worker.tasks, ...(worker.queues ?? [])].some((each) =>
    each?.toLowerCase().includes(wanted),
  );
}
