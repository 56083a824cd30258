/** What is no number goes to the server as it is, which says so at the field. */
export function numeral(text: string): number | string | undefined {
  const trimmed = text.trim();
  return trimmed === "" ? undefined : /^-?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** "90m" as it is; a bare number is seconds. */
export function duration(text: string): number | string | undefined {
  const trimmed = text.trim();
  return /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed || undefined;
}
