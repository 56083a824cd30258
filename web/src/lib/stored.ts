/** A preference that outlives the page: kept in localStorage, shared by all who use it, and by other tabs. */
import { useSyncExternalStore } from "react";

export interface Stored<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function stored<T>(name: string, fallback: T): Stored<T> {
  const key = `horae.${name}`;
  const listeners = new Set<() => void>();
  let value = read(key, fallback);
  window.addEventListener("storage", (event) => {
    if (event.key !== key) return;
    value = read(key, fallback);
    for (const listener of listeners) listener();
  });
  return {
    get: () => value,
    set(next) {
      value = next;
      write(key, next);
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStored<T>(preference: Stored<T>): [T, (value: T) => void] {
  return [useSyncExternalStore(preference.subscribe, preference.get), preference.set];
}

function read<T>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(key);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

function write(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A full or forbidden store: the preference holds for this page only.
  }
}
