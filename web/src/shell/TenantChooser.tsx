import { useApi } from "~/api/hooks";
import { useSession } from "~/api/session";
import { Select } from "~/components/Field";
import { useSearchState } from "~/lib/search";
import { safeText } from "~/lib/text";

/** For keys of no tenant: look at one tenant, or at all. The choice stands in the address. */
export function TenantChooser() {
  const session = useSession();
  const { params, change } = useSearchState();
  const free = session !== undefined && !session.tenant && session.permissions.includes("tenants:read");
  const tenants = useApi("/v1/tenants", { enabled: free, every: 60 }).data?.items ?? [];
  if (!free) return null;
  const chosen = params.get("tenant") ?? "";
  const names = tenants.map((tenant) => tenant.name);
  if (chosen !== "" && !names.includes(chosen)) names.unshift(chosen);
  return (
    <Select
      label="Tenant"
      bare
      value={chosen}
      onChange={(tenant) => change({ tenant }, true)}
      choices={[
        { value: "", label: "All tenants" },
        ...names.map((name) => ({ value: name, label: safeText(name) })),
      ]}
    />
  );
}
