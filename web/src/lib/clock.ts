/** One tick a second for everything on the page that tells time; it stops while nobody looks. */
import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  if (document.visibilityState === "hidden") return;
  for (const listener of listeners) listener();
}

export function subscribeClock(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** What `read` says now; the component renders again only when its answer has changed. */
export function useClock<T extends string | number | boolean>(read: (now: Date) => T): T {
  return useSyncExternalStore(subscribeClock, () => read(new Date()));
}
