/** Colours of terminals, read from a line of output. All other sequences are left out: none of them is text. */

export interface Piece {
  text: string;
  /** Classes such as "red bright bold"; colours beyond the sixteen stand in `colour`. */
  style: string;
  colour?: string;
}

interface Look {
  fore?: string;
  colour?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
}

// CSI sequences, OSC strings up to their end, and two-character escapes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const SEQUENCE = /\u001b(?:\[([0-?]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const FLAGS = ["bold", "dim", "italic", "underline", "inverse"] as const;

/** The pieces of a line that begins with `codes` in force. */
export function pieces(line: string, codes = ""): Piece[] {
  if (!codes && !line.includes("\u001b")) return [{ text: line, style: "" }];
  const look: Look = {};
  apply(look, codes);
  const found: Piece[] = [];
  let at = 0;
  const put = (text: string) => {
    if (text !== "") found.push({ text, style: styleOf(look), colour: look.colour });
  };
  for (const match of line.matchAll(SEQUENCE)) {
    put(line.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") apply(look, match[1] ?? "");
  }
  put(line.slice(at));
  return found;
}

/** The text alone: for searching and copying. */
export function withoutAnsi(line: string): string {
  return line.includes("\u001b") ? line.replace(SEQUENCE, "") : line;
}

const MOST_CODES = 64;

/** What is in force after a line, as codes to begin the next one with. */
export function codesAfter(line: string, before: string): string {
  if (!line.includes("\u001b")) return before;
  let codes = before;
  for (const match of line.matchAll(SEQUENCE)) {
    if (match[2] !== "m") continue;
    const given = match[1] ?? "";
    codes = given === "" || given === "0" ? "" : codes ? `${codes};${given}` : given;
    const reset = codes.lastIndexOf(";0;");
    if (reset >= 0) codes = codes.slice(reset + 3);
  }
  return codes.length > MOST_CODES ? "" : codes;
}

function styleOf(look: Look): string {
  return [look.fore, ...FLAGS.filter((flag) => look[flag])].filter(Boolean).join(" ");
}

function apply(look: Look, text: string): void {
  const codes = text.split(/[;:]/).map((code) => Number(code) || 0);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(at + 1));
      if (code === 38) Object.assign(look, { fore: undefined, colour });
      at += used;
    } else applyOne(look, code);
  }
}

function applyOne(look: Look, code: number): void {
  if (code === 0) for (const name of Object.keys(look)) delete look[name as keyof Look];
  else if (code === 1) look.bold = true;
  else if (code === 2) look.dim = true;
  else if (code === 3) look.italic = true;
  else if (code === 4) look.underline = true;
  else if (code === 7) look.inverse = true;
  else if (code === 22) Object.assign(look, { bold: false, dim: false });
  else if (code === 23) look.italic = false;
  else if (code === 24) look.underline = false;
  else if (code === 27) look.inverse = false;
  else if (code === 39) Object.assign(look, { fore: undefined, colour: undefined });
  else if (code >= 30 && code <= 37) Object.assign(look, { fore: NAMES[code - 30], colour: undefined });
  else if (code >= 90 && code <= 97)
    Object.assign(look, { fore: `bright-${NAMES[code - 90]}`, colour: undefined });
}

/** A colour of the 256 or of all, and how many codes it took. */
function extended([kind, ...rest]: number[]): [string | undefined, number] {
  if (kind === 2) return [`rgb(${[0, 1, 2].map((part) => clamp(rest[part])).join(" ")})`, 4];
  if (kind !== 5) return [undefined, 1];
  return [paletteColour(clamp(rest[0])), 2];
}

const clamp = (value: number | undefined) => Math.min(255, Math.max(0, value ?? 0));
const CUBE = [0, 95, 135, 175, 215, 255];
const BASIC = ["#777", "#c33", "#2a2", "#a80", "#37c", "#a3a", "#199", "#999"];

function paletteColour(number: number): string {
  if (number < 16) return BASIC[number % 8] ?? "#777";
  if (number >= 232)
    return `rgb(${Array(3)
      .fill(8 + (number - 232) * 10)
      .join(" ")})`;
  const part = number - 16;
  return `rgb(${[Math.floor(part / 36), Math.floor(part / 6) % 6, part % 6].map((level) => CUBE[level]).join(" ")})`;
}
