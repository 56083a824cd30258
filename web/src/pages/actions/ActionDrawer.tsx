import { useApi } from "~/api/hooks";
import { useMay } from "~/api/session";
import { Command } from "~/components/Copy";
import { Drawer } from "~/components/Dialog";
import { Facts } from "~/components/Facts";
import { Json } from "~/components/Json";
import { ErrorNote, Note } from "~/components/Note";
import { Skeleton } from "~/components/Skeleton";
import { Time } from "~/components/Time";
import { useClock } from "~/lib/clock";
import { formatNumber, safeText } from "~/lib/text";
import styles from "./Actions.module.css";
import { ActionDeeds } from "./deeds";
import { ActionState, Progress } from "./Progress";
import { type BulkAction, filterWords, isUnderWay, isUndoable, VERBS } from "./words";

/** Everything about one action. */
export function ActionDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const asked = useApi("/v1/actions/{action_id}", { path: { action_id: id }, every: 1, keep: false });
  const mayControl = useMay("jobs:control");
  const action = asked.data;
  const acts = useClock(
    (now) => action !== undefined && (action.state === "running" || isUndoable(action, now)),
  );
  return (
    <Drawer
      title={action ? `${VERBS[action.action]} ${safeText(filterWords(action.filter))}` : "Bulk action"}
      open
      onClose={onClose}
      footer={action && acts && mayControl && <ActionDeeds action={action} />}
    >
      {asked.error && <ErrorNote error={asked.error} />}
      {action ? <ActionFacts action={action} /> : !asked.error && <Skeleton height="12rem" />}
    </Drawer>
  );
}

function ActionFacts({ action }: { action: BulkAction }) {
  return (
    <div className={styles.more}>
      <Progress action={action} />
      {action.note && <Note tone="warn">{safeText(action.note)}</Note>}
      <Facts
        items={[
          ["State", <ActionState key="state" state={action.state} />],
          ["Tenant", safeText(action.tenant)],
          ["By", safeText(action.by ?? "")],
          action.reason ? ["Reason", safeText(action.reason)] : null,
          action.rate ? ["Rate", `${formatNumber(action.rate)} jobs a second`] : null,
          ["Made", <Time key="made" at={action.created_at} show="both" />],
          !isUnderWay(action) && ["Ended", <Time key="ended" at={action.finished_at} show="both" />],
          action.undo_until && action.done
            ? ["Can be undone until", <Time key="undo" at={action.undo_until} show="both" />]
            : null,
        ]}
      />
      <Json label="Filter" value={action.filter} />
      {action.changes && <Json label="Changes" value={action.changes} />}
      <Command text={`horae action show ${action.id}`} />
    </div>
  );
}
