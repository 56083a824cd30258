import { call } from "~/api/call";
import type { Schemas } from "~/api/types";
import type { IconName } from "~/components/Icon";
import { keepTenant } from "~/shell/navigation";
import type { PaletteContext, PaletteItem } from "./types";

type Found = Schemas["Found"];

interface Kind {
  group: string;
  icon: IconName;
  href: (found: Found) => string;
}

const KINDS: Record<string, Kind> = {
  job: { group: "Jobs", icon: "jobs", href: ({ id }) => `/jobs/${id}` },
  task: { group: "Tasks", icon: "tasks", href: ({ name }) => `/tasks/${encodeURIComponent(name)}` },
  schedule: {
    group: "Schedules",
    icon: "schedules",
    href: ({ name }) => `/schedules/${encodeURIComponent(name)}`,
  },
  queue: { group: "Queues", icon: "queues", href: ({ name }) => `/queues?queue=${encodeURIComponent(name)}` },
  worker: { group: "Workers", icon: "workers", href: ({ id }) => `/workers/${id}` },
};

/** Jobs by their id, and everything that has a name: one question to the server. */
export async function findThings(text: string, context: PaletteContext): Promise<readonly PaletteItem[]> {
  if (!context.permissions.includes("jobs:read")) return [];
  const { tenant, signal } = context;
  const { items } = await call("get", "/v1/find", { query: { text: text.slice(0, 200), tenant }, signal });
  return items.flatMap((found) => itemsOf(found, context));
}

function itemsOf(found: Found, { tenant, permissions }: PaletteContext): PaletteItem[] {
  const kind = KINDS[found.kind];
  if (kind === undefined) return [];
  const { name, id, note } = found;
  // Names are the tenant's own: who looks at all of them is led to the one that has it.
  const href = keepTenant(
    kind.href(found),
    tenant ?? (found.kind === "job" || found.kind === "worker" ? null : (found.tenant ?? null)),
  );
  const key = `${found.kind}-${id ?? name}-${found.tenant ?? ""}`;
  const about = [found.kind === "job" ? name : note, tenant === undefined ? found.tenant : undefined];
  const item: PaletteItem = {
    id: key,
    label: found.kind === "job" ? (id ?? name) : name,
    note: about.filter(Boolean).join(" · "),
    group: kind.group,
    icon: kind.icon,
    href,
  };
  if (found.kind !== "task" || !permissions.includes("jobs:submit")) return [item];
  const submit = `${href}${href.includes("?") ? "&" : "?"}submit=yes`;
  return [
    item,
    { id: `submit-${key}`, label: `Submit ${name}`, group: kind.group, icon: "play", href: submit },
  ];
}
