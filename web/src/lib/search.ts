/** The query string is where filters live, so that an address can be shared. */
import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";

export type Changes = Record<string, string | readonly string[] | null | undefined>;

/**
 * `params` to read, `change({state: "failed", task: null})` to write; null, undefined and "" remove. A new entry of the
 * history may have a `state`; one that is only changed keeps its own.
 */
export function useSearchState(): {
  params: URLSearchParams;
  change: (changes: Changes, push?: boolean, state?: unknown) => void;
} {
  const [params, setParams] = useSearchParams();
  const change = useCallback(
    (changes: Changes, push = false, state: unknown = null) =>
      setParams((before) => withChanges(before, changes), {
        replace: !push,
        state: push ? state : window.history.state,
      }),
    [setParams],
  );
  return useMemo(() => ({ params, change }), [params, change]);
}

export function withChanges(before: URLSearchParams, changes: Changes): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    after.delete(name);
    const values = value === null || value === undefined ? [] : typeof value === "string" ? [value] : value;
    for (const each of values) if (each !== "") after.append(name, each);
  }
  return after;
}
