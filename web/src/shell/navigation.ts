import { useCallback } from "react";
import { useSearchParams } from "wouter";
import { useSession } from "~/api/session";
import type { Permission } from "~/api/types";
import type { IconName } from "~/components/Icon";
import { type Changes, withChanges } from "~/lib/search";

export interface Place {
  href: string;
  label: string;
  icon: IconName;
  /** Shown only to those who may read it. */
  permission: Permission;
  /** Pressed after g, goes there. */
  key: string;
}

export const PLACES: readonly { title: string; places: readonly Place[] }[] = [
  { title: "Now", places: [{ href: "/", label: "Home", icon: "home", permission: "jobs:read", key: "h" }] },
  {
    title: "Work",
    places: [
      { href: "/jobs", label: "Jobs", icon: "jobs", permission: "jobs:read", key: "j" },
      { href: "/dead-letters", label: "Dead letters", icon: "dead", permission: "jobs:read", key: "d" },
      { href: "/actions", label: "Bulk actions", icon: "actions", permission: "jobs:read", key: "a" },
    ],
  },
  {
    title: "Plan",
    places: [
      { href: "/schedules", label: "Schedules", icon: "schedules", permission: "schedules:read", key: "s" },
      { href: "/tasks", label: "Tasks", icon: "tasks", permission: "tasks:read", key: "t" },
    ],
  },
  {
    title: "Fleet",
    places: [
      { href: "/workers", label: "Workers", icon: "workers", permission: "workers:read", key: "w" },
      { href: "/queues", label: "Queues", icon: "queues", permission: "jobs:read", key: "q" },
    ],
  },
  {
    title: "Policy",
    places: [
      { href: "/limits", label: "Limits", icon: "limits", permission: "limits:read", key: "l" },
      { href: "/gates", label: "Gates", icon: "gates", permission: "gates:read", key: "g" },
    ],
  },
];

export const ALL_PLACES: readonly Place[] = PLACES.flatMap((group) => group.places);

/** A link within the console keeps the tenant that is looked at. */
export function keepTenant(href: string, tenant: string | null): string {
  if (tenant === null) return href;
  return `${href}${href.includes("?") ? "&" : "?"}tenant=${encodeURIComponent(tenant)}`;
}

export type Href = (path: string, changes?: Changes) => string;

/**
 * Makes addresses within the console: with what they ask for, and the tenant that is looked at. For what is a tenant's
 * own by name (a task, a schedule, a queue) give its `tenant`: where all are looked at, the address must say whose it is.
 */
export function useHref(): Href {
  const [params] = useSearchParams();
  const ownTenant = useSession()?.tenant;
  const chosen = params.get("tenant");
  return useCallback(
    (path, changes) => {
      const [place, search = ""] = path.split("?");
      const kept = withChanges(new URLSearchParams(search), {
        ...changes,
        tenant: ownTenant ? null : (changes?.tenant ?? chosen),
      }).toString();
      return kept === "" ? (place ?? "/") : `${place}?${kept}`;
    },
    [ownTenant, chosen],
  );
}
