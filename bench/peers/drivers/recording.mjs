// What a job leaves behind, as recording.py does it: process.hrtime is the same clock as Python's time.monotonic.
import fs from "node:fs";
import path from "node:path";

const folder = process.env.RACE_TRACES;
const file = (kind, flags) => fs.openSync(path.join(folder, `${kind}-${process.pid}`), flags);

let number = 0;
let written = 0;
let first = 0n;
let last = 0n;
let counts;

function begin() {
  first = last;
  counts = file("count", "w");
  setInterval(write, 20);
}

function write() {
  if (written === number) return;
  written = number;
  const cells = [written, first, last].map((cell) => String(cell).padStart(20));
  fs.writeSync(counts, `${cells.join(" ")}\n`, 0);
}

export function noop() {
  last = process.hrtime.bigint();
  if (number++ === 0) begin();
}

let journal;
function note(mark, which) {
  const line = `${mark} ${which} ${process.hrtime.bigint()}\n`;
  journal ??= file("journal", "a");
  fs.writeSync(journal, line);
}

export const stamp = (which) => note("start", which);

export async function work(which) {
  note("start", which);
  await new Promise((resolve) => setTimeout(resolve, 20));
  note("end", which);
}
