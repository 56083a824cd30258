import { describe, expect, it } from "vitest";
import { cut, formatBytes, formatNumber, formatShort, plural, safeText } from "./text";

describe("safeText", () => {
  it("shows what could reorder, hide or forge text as its code point", () => {
    expect(safeText("a\u202eb\u200bc\u0000d\u0007")).toBe("a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩d⟨U+0007⟩");
  });

  it("leaves tabs, newlines, accents, other scripts and emoji as they are", () => {
    const text = "tab\tline\nGrüße 日本 🎉 <b>&amp;</b>";
    expect(safeText(text)).toBe(text);
  });

  it("shows a half of a surrogate pair", () => {
    expect(safeText("x\ud83cy")).toBe("x⟨U+D83C⟩y");
  });
});

describe("cut", () => {
  it("never splits a surrogate pair", () => {
    expect(cut("ab🎉cd", 3)).toBe("ab");
    expect(cut("ab🎉cd", 4)).toBe("ab🎉");
    expect(cut("ab", 4)).toBe("ab");
  });
});

describe("figures", () => {
  it("keeps every digit while there is room, then shortens", () => {
    expect([9999, 12_345, 10_000_000].map(formatShort)).toEqual(["9,999", "12.3K", "10M"]);
  });

  it("gives measures three significant digits", () => {
    expect([0, 0.01234, 2.5, 999.9, 5000].map(formatNumber)).toEqual(["0", "0.0123", "2.5", "1000", "5,000"]);
  });

  it("counts bytes in powers of 1024", () => {
    expect([0, 1023, 1536, 300 * 1024 ** 2].map(formatBytes)).toEqual([
      "0 B",
      "1023 B",
      "1.5 KiB",
      "300 MiB",
    ]);
  });

  it("says one job, two jobs", () => {
    expect([plural(1, "job"), plural(2, "job"), plural(0, "entry", "entries")]).toEqual([
      "1 job",
      "2 jobs",
      "0 entries",
    ]);
  });
});
