import { describe, expect, it } from "vitest";
import { cellsOf, rowCount, shadeOf, stepsOf } from "./minutes";

const FORECAST = {
  since: "2026-11-16T07:20:00Z",
  until: "2026-11-17T07:20:00Z",
  schedules: 2,
  minutes: [
    { at: "2026-11-16T07:30:00Z", ticks: 1 },
    { at: "2026-11-17T03:00:00Z", ticks: 4 },
  ],
  collisions: [],
  proposals: [],
  peak: 4,
  peak_spread: 2,
  truncated: false,
};

describe("the map of the day ahead", () => {
  it("puts each minute into the row of its hour", () => {
    expect(cellsOf(FORECAST).map(({ row, minute, ticks }) => [row, minute, ticks])).toEqual([
      [0, 30, 1],
      [20, 0, 4],
    ]);
    expect(rowCount(FORECAST)).toBe(25);
  });

  it("is darkest where it is fullest, and shows a single tick", () => {
    expect(shadeOf(4, 4)).toBe(1);
    expect(shadeOf(1, 1000)).toBeGreaterThan(0);
    expect(shadeOf(0, 4)).toBe(0);
  });

  it("tells what the shades stand for", () => {
    expect(stepsOf(100)).toEqual([20, 40, 60, 80, 100]);
    expect(stepsOf(1)).toEqual([1]);
  });
});
