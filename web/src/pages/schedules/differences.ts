/** What differs between two definitions, field by field. Pure. */
import type { Definition } from "./types";

export interface Difference {
  field: string;
  /** As JSON; undefined is the default. */
  before?: string;
  after?: string;
}

export function differences(before: Definition, after: Definition): Difference[] {
  const [one, other] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  const fields = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
  return fields.flatMap((field) => {
    const [was, is] = [written(one[field]), written(other[field])];
    return was === is ? [] : [{ field, before: was, after: is }];
  });
}

/** With the names in order: the same value reads the same. */
function written(value: unknown): string | undefined {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
