/** Reading and changing through the API from a component. */
import {
  keepPreviousData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from "@tanstack/react-query";
import { toast } from "~/components/Toast";
import { type Answer, type Body, call, type Method, type Options, type PathWith, type Query } from "./call";
import { client } from "./client";
import type { ApiError } from "./error";

export interface ReadOptions<P extends PathWith<"get">> {
  path?: Record<string, string | number>;
  query?: Query<P, "get">;
  /** Read again on a pulse of the server: true for at most once a second, or the least seconds between two. */
  live?: boolean | number;
  /** Read again every so many seconds, for what no pulse tells of. */
  every?: number;
  enabled?: boolean;
  /** Show the answer to the last question until the next has come; on unless said otherwise. */
  keep?: boolean;
}

export function useApi<P extends PathWith<"get">>(
  path: P,
  options: ReadOptions<P> = {},
): UseQueryResult<Answer<P, "get">, ApiError> {
  const { path: values, query, live, every, enabled, keep = true } = options;
  return useQuery<Answer<P, "get">, ApiError>({
    queryKey: [path, values ?? null, query ?? null],
    queryFn: ({ signal }) => call("get", path, { path: values, query, signal }),
    enabled,
    meta: liveMeta(live),
    refetchInterval: every === undefined ? false : every * 1000,
    placeholderData: keep ? (keepPreviousData as never) : undefined,
  });
}

type Paged = { next_cursor?: string | null };

/**
 * Keyset pages: `data.pages`, `fetchNextPage`, `hasNextPage`; the first from the `cursor` of the query on, if there is
 * one. A pulse reads all loaded pages again: load few.
 */
export function usePages<P extends PathWith<"get">>(
  path: P,
  options: ReadOptions<P> = {},
): UseInfiniteQueryResult<{ pages: Answer<P, "get">[] }, ApiError> {
  const { path: values, query, live, every, enabled, keep = true } = options;
  return useInfiniteQuery({
    queryKey: [path, values ?? null, query ?? null, "pages"],
    queryFn: ({ signal, pageParam }) =>
      call("get", path, {
        path: values,
        query: (pageParam ? { ...query, cursor: pageParam } : query) as Query<P, "get">,
        signal,
      } as Options<P, "get">),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page as Paged).next_cursor ?? undefined,
    enabled,
    meta: liveMeta(live),
    refetchInterval: every === undefined ? false : every * 1000,
    placeholderData: keep ? (keepPreviousData as never) : undefined,
  }) as UseInfiniteQueryResult<{ pages: Answer<P, "get">[] }, ApiError>;
}

function liveMeta(live: boolean | number | undefined): { live: number } | undefined {
  if (live === undefined || live === false) return undefined;
  return { live: live === true ? 1 : live };
}

export interface ActionOptions<A> {
  /** What the toast says when it is done; nothing, if it shall say nothing. */
  done?: string | ((answer: A) => string);
  /** False where the caller shows the error itself; otherwise a toast does. */
  toastErrors?: boolean;
  onDone?: (answer: A) => void;
}

export interface Action<P extends PathWith<M>, M extends Method> {
  /** Resolves to the answer, or to undefined when it failed: `error` and the toast tell why. */
  run: (options?: {
    path?: Record<string, string | number>;
    query?: Query<P, M>;
    body?: Body<P, M>;
    headers?: Record<string, string>;
  }) => Promise<Answer<P, M> | undefined>;
  running: boolean;
  error: ApiError | null;
  reset: () => void;
}

/** A call that changes something; afterwards everything on the page is read again. */
export function useAction<M extends Exclude<Method, "get">, P extends PathWith<M>>(
  method: M,
  path: P,
  options: ActionOptions<Answer<P, M>> = {},
): Action<P, M> {
  const mutation = useMutation<Answer<P, M>, ApiError, Options<P, M> | undefined>({
    mutationFn: (given) => call(method, path, given),
    onSuccess: (answer) => {
      const { done } = options;
      if (done !== undefined) toast.done(typeof done === "string" ? done : done(answer));
      options.onDone?.(answer);
      void client.invalidateQueries();
    },
    onError: (error) => {
      if (options.toastErrors !== false) toast.error(error);
    },
  });
  return {
    run: (given) => mutation.mutateAsync(given as Options<P, M> | undefined).catch(() => undefined),
    running: mutation.isPending,
    error: mutation.error,
    reset: mutation.reset,
  };
}
