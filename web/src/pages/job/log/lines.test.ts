import { describe, expect, it } from "vitest";
import { codesAfter, pieces, withoutAnsi } from "./ansi";
import { Lines } from "./lines";
import { type Found, searchOn } from "./useMatches";

const chunk = (seq: number, text: string, more = {}) => ({
  attempt: 1,
  seq,
  stream: "stdout",
  text,
  ...more,
});

function read(...chunks: Parameters<Lines["add"]>[0][]): Lines {
  const lines = new Lines();
  for (const each of chunks) lines.add(each);
  return lines;
}

const texts = (lines: Lines) => Array.from({ length: lines.count }, (_, at) => lines.line(at).text);

describe("the lines of a log", () => {
  it("joins what chunks split and keeps streams apart", () => {
    const lines = read(chunk(0, "one\ntw"), chunk(1, "o\nthree"), chunk(2, "oops\n", { stream: "stderr" }));
    expect(texts(lines)).toEqual(["one", "two", "three", "oops"]);
    expect(lines.line(3).stream).toBe("stderr");
  });

  it("takes each chunk once, however often it comes", () => {
    const lines = read(chunk(0, "a\n"), chunk(1, "b\n"), chunk(0, "a\n"), chunk(1, "b\n"));
    expect(texts(lines)).toEqual(["a", "b"]);
    expect(lines.cursor).toBe("1-1");
  });

  it("shows what a terminal would after a carriage return", () => {
    expect(texts(read(chunk(0, "10 %\r50 %\r100 %\r\ndone\r\n")))).toEqual(["100 %", "done"]);
  });

  it("knows where attempts begin", () => {
    const lines = read(chunk(0, "a\nb\n"), chunk(0, "c\n", { attempt: 3 }));
    expect(lines.range(1)).toEqual([0, 2]);
    expect(lines.range(3)).toEqual([2, 3]);
    expect(lines.range(undefined)).toEqual([0, 3]);
    expect(lines.line(2).attempt).toBe(3);
  });

  it("cuts lines that no browser could lay out", () => {
    expect(read(chunk(0, "x".repeat(50_000))).line(0).text.length).toBe(10_000);
  });

  it("finds text whatever its case and colours", () => {
    expect(read(chunk(0, "a\n\u001b[31mEr\u001b[1mror\u001b[0m\nb\n")).find("error", 0, 10)).toEqual([1]);
  });

  it("carries colours on to the next line", () => {
    const lines = read(chunk(0, "\u001b[31mred\nstill\u001b[0m\nplain\n"));
    expect([0, 1, 2].map((at) => lines.line(at).codes)).toEqual(["", "31", ""]);
  });
});

describe("colours", () => {
  it("become styles, and all other sequences nothing", () => {
    expect(pieces("\u001b[1;31mred\u001b[0m\u001b[2K\u001b]0;title\u0007 plain")).toEqual([
      { text: "red", style: "red bold", colour: undefined },
      { text: " plain", style: "", colour: undefined },
    ]);
    expect(pieces("\u001b[38;5;196mx")[0]?.colour).toBe("rgb(255 0 0)");
    expect(pieces("\u001b[38;2;1;2;999mx")[0]?.colour).toBe("rgb(1 2 255)");
    expect(withoutAnsi("\u001b[1ma\u001b[0mb")).toBe("ab");
  });

  it("leave markup as the text it is", () => {
    expect(pieces("\u001b[31m<img src=x onerror=alert(1)>")[0]?.text).toBe("<img src=x onerror=alert(1)>");
  });

  it("end with a reset", () => {
    expect(codesAfter("\u001b[31;1ma", "")).toBe("31;1");
    expect(codesAfter("\u001b[mb", "31")).toBe("");
  });
});

describe("a search", () => {
  const begun: Found = { needle: "b", attempt: undefined, lines: [], upTo: 0 };

  it("finds what comes later in a line that grows", () => {
    const lines = read(chunk(0, "abc\na"));
    const first = searchOn(lines, begun, lines.count);
    expect(first).toMatchObject({ lines: [0], upTo: 1 });
    lines.add(chunk(1, "b"));
    const second = searchOn(lines, first, lines.count);
    expect(second).toMatchObject({ lines: [0, 1], upTo: 1 });
    lines.add(chunk(2, "b\nx\n"));
    expect(searchOn(lines, second, lines.count)).toMatchObject({ lines: [0, 1], upTo: 3 });
  });

  it("goes on in slices", () => {
    const lines = read(chunk(0, "b\nb\nb\n"));
    const first = searchOn(lines, begun, lines.count, 2);
    expect(first).toMatchObject({ lines: [0, 1], upTo: 2 });
    expect(searchOn(lines, first, lines.count, 2)).toMatchObject({ lines: [0, 1, 2], upTo: 3 });
  });
});
