import { describe, expect, it } from "vitest";
import { fateOf, heightOf, summarise, summaryWords } from "./lateness";

const tick = (state: string, late?: number, count?: number) => ({
  at: "2026-11-16T07:00:00Z",
  state,
  late,
  count,
});

describe("the punctuality of the last ticks", () => {
  it("tells what became of each", () => {
    expect(fateOf(tick("succeeded", 0.2))).toBe("good");
    expect(fateOf(tick("failed", 0.2))).toBe("failed");
    expect(fateOf(tick("skipped"))).toBe("skipped");
    expect(fateOf(tick("pending"))).toBe("open");
  });

  it("draws longer delays higher, and none without a bar or beyond the top", () => {
    const heights = [0, 0.01, 1, 60, 600, 86_400].map(heightOf);
    expect(heights).toEqual([...heights].sort((a, b) => a - b));
    expect(heights[0]).toBeGreaterThan(0);
    expect(heights.at(-1)).toBe(1);
  });

  it("is summed up in a sentence", () => {
    const found = summarise([
      tick("succeeded", 0.1),
      tick("succeeded", 0.3),
      tick("failed", 9),
      tick("skipped", undefined, 4),
    ]);
    expect(found).toMatchObject({ ticks: 7, late: 1, failed: 1, skipped: 4, median: 0.3, worst: 9 });
    expect(summaryWords(found)).toBe(
      "7 ticks, started 300 ms late at the median, 9.00 s at worst, 1 failed, 4 skipped",
    );
    expect(summaryWords(summarise([]))).toBe("No ticks yet");
  });
});
