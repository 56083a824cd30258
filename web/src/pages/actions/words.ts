/** What bulk actions are called, and which jobs they are for, in words. Pure. */
import type { Answer } from "~/api/call";
import type { Schemas } from "~/api/types";
import type { Tone } from "~/components/Badge";
import { plural } from "~/lib/text";

export type BulkAction = Answer<"/v1/actions/{action_id}", "get">;
type Kind = BulkAction["action"];
type State = BulkAction["state"];

export const VERBS: Record<Kind, string> = {
  cancel: "Cancel",
  retry: "Retry",
  redrive: "Redrive",
  reprioritise: "Reprioritise",
  reschedule: "Reschedule",
  discard: "Discard",
  change: "Change",
};

export const TONES: Record<State, Tone> = {
  preview: "neutral",
  running: "info",
  done: "good",
  cancelled: "neutral",
  failed: "danger",
  undoing: "info",
  undone: "warn",
};

const UNDOABLE: ReadonlySet<Kind> = new Set(["cancel", "discard", "reprioritise", "reschedule", "change"]);

export function isUnderWay({ state }: BulkAction): boolean {
  return state === "running" || state === "undoing";
}

/** Whether it can still be undone at this moment; the server has the last word. */
export function isUndoable({ action, state, undo_until, done }: BulkAction, now: Date): boolean {
  if (!UNDOABLE.has(action) || state === "undoing" || state === "undone") return false;
  if (state !== "running" && !done) return false;
  return (
    state === "running" || (undo_until !== undefined && undo_until !== null && new Date(undo_until) > now)
  );
}

/** The part that is done, from 0 to 1; undefined while nobody knows how many there are. */
export function shareDone({ state, total, more, seen, done, undone }: BulkAction): number | undefined {
  if (state === "undoing") return done ? (undone ?? 0) / done : undefined;
  if (!isUnderWayState(state)) return 1;
  if (!total || more) return undefined;
  return Math.min(1, (seen ?? 0) / total);
}

const isUnderWayState = (state: State) => state === "running" || state === "undoing";

export function countsOf({ state, total, more, done, skipped, failed, undone }: BulkAction): string {
  const of =
    total === undefined || total === null
      ? ""
      : ` of ${more ? "at least " : ""}${total.toLocaleString("en")}`;
  const parts = [
    `${(done ?? 0).toLocaleString("en")}${of} done`,
    skipped ? `${skipped.toLocaleString("en")} had moved on` : "",
    failed ? `${failed.toLocaleString("en")} failed` : "",
    undone || state === "undone" ? `${(undone ?? 0).toLocaleString("en")} undone` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

const WAITING = "blocked,ready,scheduled";

/** "failed", "waiting", "running or waiting": the states that a filter names. */
function stateWords(status: string): string {
  const states = status.split(",").sort();
  const live = states.filter((state) => !WAITING.split(",").includes(state));
  const words = states.length - live.length === 3 ? [...live, "waiting"] : states;
  return words.join(" or ");
}

/** "failed jobs of mail with the cause 4f2a", as far as the filter says something. */
export function filterWords(filter: Schemas["JobsFilter"]): string {
  const { status, task, queue, user, worker, label, since, until, cause, ids, text } = filter;
  const labels = Object.entries(label ?? {}).map(([name, value]) => `${name}=${value}`);
  const parts = [
    ids ? plural(ids.length, "chosen job") : status ? `${stateWords(status)} jobs` : "jobs",
    task && `of ${task}`,
    queue && `in the queue ${queue}`,
    user && `by ${user}`,
    worker !== undefined && worker !== null && `of worker ${worker}`,
    labels.length > 0 && `labelled ${labels.join(" and ")}`,
    cause && `with the cause ${cause}`,
    text && `with “${text}”`,
    since && `since ${since.slice(0, 16).replace("T", " ")}`,
    until && `until ${until.slice(0, 16).replace("T", " ")}`,
  ];
  return parts.filter(Boolean).join(" ");
}
