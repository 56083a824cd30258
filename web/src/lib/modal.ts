/** The modal dialogs that are open. What stands outside the topmost lies below it, and cannot be clicked or heard. */
import { useSyncExternalStore } from "react";

let opened: readonly HTMLDialogElement[] = [];
const watchers = new Set<() => void>();

function put(next: readonly HTMLDialogElement[]): void {
  opened = next;
  for (const watcher of watchers) watcher();
}

/** Shows a dialog above all others. Returns what closes it. */
export function openModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  put([...opened, dialog]);
  return () => {
    dialog.close();
    put(opened.filter((one) => one !== dialog));
  };
}

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

/** The dialog above all others; undefined where none is open. */
export function useTopModal(): HTMLDialogElement | undefined {
  return useSyncExternalStore(watch, () => opened.at(-1));
}
