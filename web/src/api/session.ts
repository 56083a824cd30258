/** Who is signed in and what they may do. */
import { useSearchState } from "~/lib/search";
import { call } from "./call";
import { client } from "./client";
import { ApiError } from "./error";
import { useApi } from "./hooks";
import type { Permission, Session } from "./types";

export function useSession(): Session | undefined {
  return useApi("/v1/session", { keep: true }).data;
}

/** May the key that signed in do this? What one may not do is not shown. Values of Permission in model/roles.py. */
export function useMay(permission: Permission): boolean {
  return useSession()?.permissions.includes(permission) ?? false;
}

/** The tenant that is looked at: the key's own, or the chosen one; undefined is all (only keys of no tenant). */
export function useTenant(): string | undefined {
  const own = useSession()?.tenant ?? undefined;
  const { params } = useSearchState();
  return own ?? params.get("tenant") ?? undefined;
}

/** True where rows of several tenants may stand side by side: then show the tenant's column. */
export function useAllTenants(): boolean {
  return useTenant() === undefined;
}

export async function signIn(proof: { key: string } | { ticket: string }): Promise<void> {
  const session = await call("post", "/v1/session", { body: proof });
  client.clear();
  client.setQueryData(["/v1/session", null, null], session);
}

/** Fails where the server did not do it: the cookie is as good as before then, and it must not look otherwise. */
export async function signOut(): Promise<void> {
  await call("delete", "/v1/session").catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  });
  client.clear();
  window.location.assign("/console/sign-in");
}
