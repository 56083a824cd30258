/** Gates in words, and between the form and the API. */
import type { Schemas } from "~/api/types";
import type { Tone } from "~/components/Badge";
import { formatCount, plural } from "~/lib/text";

export type Gate = Schemas["Gate"];
export type GateCreate = Schemas["GateCreate"];
export type Action = Gate["action"];
export type Running = NonNullable<GateCreate["running"]>;

export const ACTIONS: readonly { value: Action; label: string; about: string }[] = [
  { value: "hold", label: "Hold", about: "Waiting and new jobs wait until it is released." },
  {
    value: "drop",
    label: "Drop",
    about: "Waiting and new jobs end as dropped; for a day they can be brought back.",
  },
  { value: "reject", label: "Reject", about: "New jobs are refused; those that wait go on." },
];

export const RUNNING: readonly { value: Running; label: string }[] = [
  { value: "leave", label: "Leave them alone" },
  { value: "cancel", label: "Cancel them" },
  { value: "move", label: "Stop them, and put them back to wait" },
];

export const STATES: Record<string, Tone> = { closed: "warn", releasing: "info", over: "neutral" };

/** Which jobs it is for. */
export function whatOf(gate: Pick<Gate, "tenant" | "queue" | "task" | "condition" | "percent">): string {
  const parts = [
    gate.tenant && `tenant ${gate.tenant}`,
    gate.queue && `queue ${gate.queue}`,
    gate.task && `task ${gate.task}`,
    gate.percent && `${gate.percent} % of them`,
    gate.condition && `if ${gate.condition}`,
  ].filter(Boolean);
  return parts.join(", ") || "everything";
}

export function heldOf(gate: Gate): string {
  return `${formatCount(gate.held ?? 0)}${gate.held_more ? "+" : ""}`;
}

export function kindOf(gate: Gate): string {
  if (gate.kind === "stop") return "Emergency stop";
  return gate.kind === "breaker" ? "Circuit breaker" : "Gate";
}

/** What the fields of the form hold: text, as it was typed. */
export interface Draft {
  action: Action;
  tenant: string;
  task: string;
  queue: string;
  condition: string;
  percent: string;
  running: Running;
  expiresIn: string;
  reason: string;
}

export const NEW: Draft = {
  action: "hold",
  tenant: "",
  task: "",
  queue: "",
  condition: "",
  percent: "",
  running: "leave",
  expiresIn: "",
  reason: "",
};

/** What is kept of what was typed into the field of a percentage: a whole number up to 100. */
export function percentOf(typed: string): string {
  const figure = /^\d*/.exec(typed.trim())?.[0] ?? "";
  return figure === "" ? "" : String(Math.min(100, Number(figure)));
}

/** Empty fields are left out, which means any. */
export function orderOf(draft: Draft): GateCreate {
  const text = (value: string) => value.trim() || null;
  return {
    action: draft.action,
    tenant: text(draft.tenant),
    task: text(draft.task),
    queue: text(draft.queue),
    condition: text(draft.condition),
    percent: draft.percent.trim() === "" ? null : Number(draft.percent),
    running: allowed(draft),
    expires_in: text(draft.expiresIn),
    reason: draft.reason.trim(),
  };
}

/** What may become of running jobs depends on what the gate does to the others. */
export function runningChoices(action: Action): readonly { value: Running; label: string }[] {
  if (action === "reject") return RUNNING.slice(0, 1);
  return action === "drop" ? RUNNING.slice(0, 2) : RUNNING;
}

function allowed(draft: Draft): Running {
  const choices = runningChoices(draft.action);
  return choices.some((choice) => choice.value === draft.running) ? draft.running : "leave";
}

/** How far an emergency stop reaches, one sentence each. */
export function reachOf(reach: Schemas["StopPreview"], running: Running): string[] {
  const whose = reach.tenant ? `tenant ${reach.tenant}` : plural(reach.tenants, "tenant");
  const jobs = plural(reach.running, "running job");
  const fate = { leave: "go on to their end", cancel: "are cancelled", move: "are stopped and wait again" }[
    running
  ];
  return [
    `${plural(reach.pending, "waiting job")} in ${plural(reach.queues, "queue")} of ${whose} will not start.`,
    `${jobs} on ${plural(reach.workers, "worker")} ${reach.running === 1 ? fate.replace("go ", "goes ").replace("are ", "is ").replace("wait ", "waits ").replace("their", "its") : fate}.`,
    "New jobs are accepted, and wait.",
  ];
}
