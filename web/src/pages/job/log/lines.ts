/**
 * The lines of a log, outside of React: a million of them are one array of strings and a few numbers, and only what is
 * on the screen is ever drawn. Chunks come in the order of attempt and number.
 */
import { codesAfter, withoutAnsi } from "./ansi";

export interface Chunk {
  attempt: number;
  seq: number;
  stream: string;
  text: string;
}

export interface Line {
  text: string;
  /** Codes of colours that earlier lines left in force. */
  codes: string;
  stream: string;
  attempt: number;
}

/** Longer lines are cut: a browser cannot lay out a line of megabytes. The download has all of it. */
const LONGEST = 10_000;
const STREAMS = ["stdout", "stderr", "system"];

export class Lines {
  private readonly texts: string[] = [];
  private readonly streams: number[] = [];
  private readonly codes = new Map<number, string>();
  /** Where each attempt begins. */
  readonly starts: { attempt: number; at: number }[] = [];
  private active = "";
  /** The last line may go on in the next chunk. */
  private open = false;
  private last: { attempt: number; seq: number } = { attempt: 0, seq: -1 };

  get count(): number {
    return this.texts.length;
  }

  /** How many lines will not change any more. */
  get complete(): number {
    return this.open ? this.count - 1 : this.count;
  }

  get cursor(): string {
    return `${this.last.attempt}-${this.last.seq}`;
  }

  /** False when it was there before: after a reconnect chunks may come again. */
  add(chunk: Chunk): boolean {
    const { attempt, seq } = chunk;
    if (attempt < this.last.attempt || (attempt === this.last.attempt && seq <= this.last.seq)) return false;
    if (attempt !== this.last.attempt) this.begin(attempt);
    this.last = { attempt, seq };
    const stream = Math.max(0, STREAMS.indexOf(chunk.stream));
    if (this.open && this.streams.at(-1) !== stream) this.open = false;
    const parts = chunk.text.split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) this.put(part, stream, false);
    if (rest !== "") this.put(rest, stream, true);
    return true;
  }

  private begin(attempt: number): void {
    this.starts.push({ attempt, at: this.count });
    this.active = "";
    this.open = false;
  }

  private put(part: string, stream: number, open: boolean): void {
    const goesOn = this.open;
    const whole = goesOn ? (this.texts.pop() ?? "") + part : part;
    if (goesOn) this.streams.pop();
    const text = overwritten(whole).slice(0, LONGEST);
    const at = this.texts.push(text) - 1;
    this.streams.push(stream);
    if (!goesOn && this.active) this.codes.set(at, this.active);
    if (!open) this.active = codesAfter(text, this.codes.get(at) ?? "");
    this.open = open;
  }

  line(at: number): Line {
    return {
      text: this.texts[at] ?? "",
      codes: this.codes.get(at) ?? "",
      stream: STREAMS[this.streams[at] ?? 0] ?? "stdout",
      attempt: this.attemptAt(at),
    };
  }

  private attemptAt(at: number): number {
    return this.starts.findLast((start) => start.at <= at)?.attempt ?? 0;
  }

  /** The lines of one attempt, or of all: from and up to. */
  range(attempt: number | undefined): [number, number] {
    const index = this.starts.findIndex((start) => start.attempt === attempt);
    const start = this.starts[index];
    return start ? [start.at, this.starts[index + 1]?.at ?? this.count] : [0, this.count];
  }

  /** Which lines from `from` on contain a text, in lower case; at most `most` lines are looked at. */
  find(needle: string, from: number, most: number): number[] {
    const found: number[] = [];
    const end = Math.min(this.count, from + most);
    for (let at = from; at < end; at += 1) {
      if (
        withoutAnsi(this.texts[at] ?? "")
          .toLowerCase()
          .includes(needle)
      )
        found.push(at);
    }
    return found;
  }
}

/** What a terminal would show of a line that goes back to its beginning: progress bars do. */
function overwritten(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const back = text.lastIndexOf("\r");
  return back < 0 ? text : text.slice(back + 1);
}
