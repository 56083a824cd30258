/** What can be done to many jobs: to which of them, with what words, and as which requests. */
import type { Body } from "~/api/call";
import type { Job, State } from "~/api/types";
import type { IconName } from "~/components/Icon";
import { PENDING_STATES } from "~/components/StateBadge";
import { shellWords } from "~/lib/shell";
import { AGAIN_STATES, actionFilter, isReadable, type JobFilter, LIVE_STATES, statesToAct } from "./filter";

export type Kind = "cancel" | "retry" | "redrive" | "reprioritise" | "reschedule";
export type Request = Body<"/v1/jobs/actions", "post">;

interface Words {
  verb: string;
  icon: IconName;
  states: State[];
  about: string;
  danger?: boolean;
  undoable?: boolean;
}

export const KINDS: Record<Kind, Words> = {
  cancel: {
    verb: "Cancel",
    icon: "stop",
    states: LIVE_STATES,
    about:
      "Waiting jobs end as cancelled; running ones are asked to stop. For an hour it can be undone, but for what ran.",
    danger: true,
    undoable: true,
  },
  retry: {
    verb: "Retry",
    icon: "retry",
    states: AGAIN_STATES,
    about: "Failed, cancelled and dropped jobs run again as the same jobs.",
  },
  redrive: {
    verb: "Redrive",
    icon: "dead",
    states: ["failed"],
    about: "Dead letters run again; what was discarded stays where it is.",
  },
  reprioritise: {
    verb: "Reprioritise",
    icon: "up",
    states: PENDING_STATES,
    about: "Waiting jobs get another priority. For an hour it can be undone.",
    undoable: true,
  },
  reschedule: {
    verb: "Reschedule",
    icon: "clock",
    states: PENDING_STATES,
    about: "Waiting jobs get another time. For an hour it can be undone.",
    undoable: true,
  },
};

export interface Form {
  priority: string;
  delay: string;
  reason: string;
  rate: string;
}

export const EMPTY_FORM: Form = { priority: "5", delay: "", reason: "", rate: "" };

/** At most so many can be named in one action. */
export const MOST_CHOSEN = 1000;

export type Target = { jobs: Job[] } | { filter: JobFilter; tenant: string | undefined };

/** Why there is nothing to do this to; undefined when there may be something. */
export function hindrance(kind: Kind, target: Target): string | undefined {
  const { states } = KINDS[kind];
  if ("jobs" in target) {
    if (target.jobs.length > MOST_CHOSEN) return `At most ${MOST_CHOSEN} jobs at once; or all that match`;
    const some = target.jobs.some((job) => states.includes(job.state));
    return some ? undefined : `None of the selected jobs is ${states.join(", ")}`;
  }
  if (!isReadable(target.filter)) return "A filter cannot be read";
  if (statesToAct(target.filter, states).length > 0) return undefined;
  return `Only for jobs that are ${states.join(", ")}; listed are those that are ${target.filter.states.join(", ")}`;
}

/** Chosen jobs as a page shows them now; those that are not on it, as they were when they were chosen. */
export function asShown(chosen: Iterable<Job>, page: readonly Job[]): Job[] {
  const now = new Map(page.map((job) => [job.id, job]));
  return [...chosen].map((job) => now.get(job.id) ?? job);
}

/** Without the chosen jobs of tenants for which it is done: what failed for another is tried again alone. */
export function leftOf(target: Target, done: readonly string[]): Target {
  return "jobs" in target ? { jobs: target.jobs.filter((job) => !done.includes(job.tenant)) } : target;
}

/** One request a tenant: an action is for one. Undefined while the form is not filled in, or nothing can match. */
export function requestsOf(kind: Kind, target: Target, form: Form, now: Date): Request[] | undefined {
  const changes = changesOf(kind, form);
  if (changes === undefined) return undefined;
  const rate = Number(form.rate);
  const common = {
    action: kind,
    changes: changes ?? undefined,
    reason: form.reason || undefined,
    rate: takesRate(kind) && rate > 0 ? rate : undefined,
  };
  if ("filter" in target) {
    const filter = actionFilter(target.filter, now, target.tenant, KINDS[kind].states);
    return filter && [{ ...common, filter }];
  }
  const byTenant = Map.groupBy(target.jobs, (job) => job.tenant);
  return [...byTenant].map(([tenant, jobs]) => ({
    ...common,
    filter: { tenant, ids: jobs.map((job) => job.id) },
  }));
}

export function takesRate(kind: Kind): boolean {
  return kind === "retry" || kind === "redrive";
}

/** Null: nothing changes. Undefined: it is not said yet what does. */
function changesOf(kind: Kind, form: Form): Request["changes"] | null | undefined {
  if (kind === "reprioritise") {
    const priority = Number(form.priority);
    return Number.isInteger(priority) && priority >= 1 && priority <= 10 ? { priority } : undefined;
  }
  if (kind === "reschedule") return form.delay.trim() === "" ? undefined : { delay: form.delay.trim() };
  return null;
}

/** The same with the command line; undefined where it cannot say it. */
export function actionCommand(request: Request): string | undefined {
  const { ids, label, ...words } = request.filter;
  const where = Object.entries(words).flatMap(([name, value]) =>
    value ? ["--where", `${name}=${value}`] : [],
  );
  const labels = Object.entries(label ?? {}).flatMap(([name, value]) => [
    "--where",
    `label=${name}:${value}`,
  ]);
  const priority = request.changes?.priority;
  const delay = request.changes?.delay;
  const changes = [
    ...(priority ? ["--priority", `${priority}`] : []),
    ...(delay !== undefined && delay !== null ? ["--delay", `${delay}`] : []),
  ];
  const rate = request.rate ? ["--rate", `${request.rate}`] : [];
  const reason = request.reason ? ["--reason", request.reason] : [];
  if (ids && request.action === "redrive") {
    const jobs = ids.flatMap((id) => ["--job", id]);
    return shellWords(["horae", "dead", "redrive", ...jobs, ...where, ...rate, ...reason]);
  }
  if (!ids) {
    const rest = [...where, ...labels, ...changes, ...rate, ...reason];
    return shellWords(["horae", "action", "run", request.action, ...rest]);
  }
  if (request.action === "cancel") return shellWords(["horae", "cancel", ...ids, ...reason]);
  if (request.action === "retry") return request.rate ? undefined : shellWords(["horae", "retry", ...ids]);
  return ids.map((id) => shellWords(["horae", "change", id, ...changes])).join("\n");
}
