import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./error";

const TRANSIENT = new Set(["unreachable", "store_unavailable", "overloaded", "not_ready"]);

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1000,
      // What nobody looks at is forgotten soon: a tab left open for a day must not grow.
      gcTime: 60_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && TRANSIENT.has(error.code),
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
});

client.getQueryCache().subscribe((event) => {
  if (event.type !== "updated" || event.action.type !== "error") return;
  const error: unknown = event.query.state.error;
  // The session has ended: ask who we are again, which shows the sign-in page.
  if (error instanceof ApiError && error.status === 401 && event.query.queryKey[0] !== "/v1/session") {
    void client.invalidateQueries({ queryKey: ["/v1/session"] });
  }
});
