/** Labels as people write them. Pure. */

export type Label = [name: string, value: string];

/** name:value, as in filters; undefined when it is not written so. */
export function labelOf(text: string): Label | undefined {
  return splitAt(text, ":");
}

/** name=value, several of them with a separator between; undefined when one cannot be read. */
export function readLabels(text: string, separator: "," | "\n"): Record<string, string> | undefined {
  const parts = text.split(separator).filter((part) => part.trim() !== "");
  const labels = parts.map((part) => splitAt(part, "="));
  if (labels.includes(undefined)) return undefined;
  return Object.fromEntries(labels.map(([name, value] = ["", ""]) => [name.trim(), value.trim()]));
}

function splitAt(text: string, mark: string): Label | undefined {
  const at = text.indexOf(mark);
  const name = text.slice(0, Math.max(0, at));
  return name.trim() === "" ? undefined : [name, text.slice(at + 1)];
}
