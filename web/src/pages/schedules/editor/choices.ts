import type { Choice } from "~/components/Field";

/** From a table of values and their words. */
export function choicesOf(table: Readonly<Record<string, string>>): Choice[] {
  return Object.entries(table).map(([value, label]) => ({ value, label }));
}
