import { describe, expect, it } from "vitest";
import { bounds, dayWords, monthOf, monthWords, moved, readMonth, weeks } from "./month";

describe("a month", () => {
  it("goes on over the end of a year", () => {
    expect(moved("2026-12", 1)).toBe("2027-01");
    expect(moved("2026-01", -1)).toBe("2025-12");
  });

  it("has whole weeks from Monday on", () => {
    const found = weeks("2026-11");
    expect(found).toHaveLength(6);
    expect(found.every((week) => week.length === 7)).toBe(true);
    expect(found[0]).toEqual([null, null, null, null, null, null, "2026-11-01"]);
    expect(found[5]?.[0]).toBe("2026-11-30");
    expect(weeks("2027-02").flat().filter(Boolean)).toHaveLength(28);
  });

  it("begins and ends by the zone's clock", () => {
    const [since, until] = bounds("2026-11", "utc");
    expect([since.toISOString(), until.toISOString()]).toEqual([
      "2026-11-01T00:00:00.000Z",
      "2026-12-01T00:00:00.000Z",
    ]);
    expect(monthOf(since, "utc")).toBe("2026-11");
  });

  it("is read from an address, and nothing else is", () => {
    expect(readMonth("2026-11")).toBe("2026-11");
    for (const wrong of [null, "", "2026-13", "2026-1", "x"]) expect(readMonth(wrong)).toBeNull();
  });

  it("is called by its name", () => {
    expect(monthWords("2026-11")).toBe("November 2026");
    expect(dayWords("2026-11-16")).toBe("Monday 16 November");
  });
});
