import type { Permission } from "~/api/types";
import type { IconName } from "~/components/Icon";

/** One line of the palette. */
export interface PaletteItem {
  id: string;
  label: string;
  /** Quieter, behind the label: the tenant, the state. */
  note?: string;
  /** The heading it stands under. */
  group: string;
  icon: IconName;
  /** Where it leads. */
  href: string;
}

export interface PaletteContext {
  tenant: string | undefined;
  permissions: readonly Permission[];
  signal: AbortSignal;
}
