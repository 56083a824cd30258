/** Lines of a unified diff. Pure. */

export interface DiffLine {
  kind: "head" | "place" | "same" | "gone" | "new";
  text: string;
}

export function diffLines(text: string): DiffLine[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => ({ kind: kindOf(line), text: line }));
}

function kindOf(line: string): DiffLine["kind"] {
  if (line.startsWith("--- version") || line.startsWith("+++ version")) return "head";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "new";
  return line.startsWith("-") ? "gone" : "same";
}
