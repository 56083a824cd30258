import { useEffect } from "react";
import { client } from "~/api/client";
import { useApi } from "~/api/hooks";
import { Badge } from "~/components/Badge";
import { ButtonLink, IconButton } from "~/components/Button";
import { Meter } from "~/components/Facts";
import { safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import styles from "./Actions.module.css";
import { type BulkAction, countsOf, isUnderWay, shareDone, TONES, VERBS } from "./words";

/** How far an action is: a bar and the counts. */
export function Progress({ action }: { action: BulkAction }) {
  const share = shareDone(action);
  const tone = action.state === "failed" ? "danger" : isUnderWay(action) ? "accent" : "good";
  return (
    <div className={styles.progress}>
      <Meter
        label={`${VERBS[action.action]}: how far it is`}
        value={Math.round((share ?? 0) * 100)}
        most={100}
        tone={tone}
      />
      <span className={styles.counts}>{countsOf(action)}</span>
    </div>
  );
}

export function ActionState({ state }: { state: BulkAction["state"] }) {
  return (
    <Badge tone={TONES[state]} dot={state === "running" || state === "undoing"}>
      {state}
    </Badge>
  );
}

/** One action, followed to its end, on whichever page made it. */
export function FollowAction({ id, onClose }: { id: string; onClose: () => void }) {
  const { data: action } = useApi("/v1/actions/{action_id}", { path: { action_id: id }, every: 1 });
  const href = useHref();
  const over = action !== undefined && !isUnderWay(action);
  // What it did to jobs is on the page around it.
  useEffect(() => {
    if (over) void client.invalidateQueries();
  }, [over]);
  if (action === undefined) return null;
  return (
    <section className={styles.follow} aria-label={`Bulk action: ${VERBS[action.action]}`} aria-live="polite">
      <strong>{VERBS[action.action]}</strong>
      <ActionState state={action.state} />
      <Progress action={action} />
      {action.note && <span className={styles.counts}>{safeText(action.note)}</span>}
      <ButtonLink small href={href("/actions", { id })}>
        Details
      </ButtonLink>
      {over && <IconButton small label="Hide this action" icon="close" onClick={onClose} />}
    </section>
  );
}
