/** A browser reads 9007199254740993 as another number: such a one must not be sent back. Pure. */

/** The first number in a value that may have lost digits when it was read, if there is one. */
export function inexactIn(value: unknown): number | undefined {
  if (typeof value === "number") {
    const lost = Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value);
    return lost ? value : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const inner of Object.values(value)) {
    const found = inexactIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where to turn with it. */
export const INEXACT = "There is a number that a browser cannot keep exactly; the command line can";
