import { useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import { ApiError } from "~/api/error";
import { useTopModal } from "~/lib/modal";
import { safeText } from "~/lib/text";
import { Button, IconButton } from "./Button";
import { Icon } from "./Icon";
import styles from "./Toast.module.css";

interface Shown {
  id: number;
  tone: "done" | "error";
  text: string;
  action?: ToastAction;
}

export interface ToastAction {
  label: string;
  onClick: () => void;
}

const MOST = 4;
const SECONDS = { done: 6, error: 12 };
/** What can still be undone must be read, decided and reached. */
const OFFER_SECONDS = 30;

let shown: Shown[] = [];
let count = 0;
const listeners = new Set<() => void>();

function put(next: Shown[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

function dismiss(id: number): void {
  put(shown.filter((each) => each.id !== id));
}

function show(tone: Shown["tone"], text: string, action?: ToastAction): void {
  count += 1;
  const id = count;
  put([...shown, { id, tone, text, action }].slice(-MOST));
  setTimeout(() => dismiss(id), (action === undefined ? SECONDS[tone] : OFFER_SECONDS) * 1000);
}

/** A word at the edge of the screen about what was done; `action` may offer to undo it. */
export const toast = {
  done: (text: string, action?: ToastAction) => show("done", text, action),
  error: (error: unknown) => {
    const advice = error instanceof ApiError && error.advice ? ` ${error.advice}` : "";
    show("error", (error instanceof Error ? error.message : String(error)) + advice);
  },
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** They stand in the dialog that is open, if one is: above it, and where they can be clicked and are read out. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  const dialog = useTopModal();
  return createPortal(
    <section className={styles.toasts} aria-label="Messages" aria-live="polite">
      {toasts.map((each) => (
        <div
          key={each.id}
          className={`${styles.toast} ${styles[each.tone]}`}
          role={each.tone === "error" ? "alert" : "status"}
        >
          <Icon name={each.tone === "done" ? "check" : "warn"} />
          <span className={styles.text}>{safeText(each.text)}</span>
          {each.action && (
            <Button
              small
              onClick={() => {
                dismiss(each.id);
                each.action?.onClick();
              }}
            >
              {each.action.label}
            </Button>
          )}
          <IconButton small label="Dismiss" icon="close" onClick={() => dismiss(each.id)} />
        </div>
      ))}
    </section>,
    dialog ?? document.body,
  );
}
