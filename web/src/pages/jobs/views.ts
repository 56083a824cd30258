/** Views that were saved under a name: kept in this browser. */
import { stored } from "~/lib/stored";
import { NAMES } from "./filter";

export interface View {
  name: string;
  /** The filter and columns, as they stand in the address. */
  search: string;
}

export const views = stored<View[]>("job-views", []);

export const BUILT_IN: readonly View[] = [
  { name: "Everything", search: "" },
  { name: "Waiting", search: "status=pending" },
  { name: "Running", search: "status=running" },
  { name: "Failed today", search: "status=failed&since=24h" },
];

const KEPT: readonly string[] = [...NAMES, "columns"];

/** What of an address belongs to a view: neither the tenant nor the place in the list does. */
export function viewOf(params: URLSearchParams): string {
  const kept = new URLSearchParams();
  for (const [name, value] of params) if (KEPT.includes(name)) kept.append(name, value);
  return kept.toString();
}

/** The address of a view, with what does not belong to it left as it is. */
export function withView(params: URLSearchParams, search: string): string {
  const next = new URLSearchParams(search);
  const tenant = params.get("tenant");
  if (tenant !== null) next.set("tenant", tenant);
  return next.toString();
}

export function saved(all: readonly View[], view: View): View[] {
  return [...all.filter((each) => each.name !== view.name), view].sort((a, b) =>
    a.name.localeCompare(b.name),
  );
}
