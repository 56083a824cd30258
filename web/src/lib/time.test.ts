import { describe, expect, it } from "vitest";
import { formatDuration, formatInstant, formatRelative, fromInput, toInput } from "./time";

const NOW = new Date("2026-11-16T07:00:00Z");
const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

describe("formatRelative", () => {
  it.each([
    [0, "now"],
    [-5, "5 s ago"],
    [-59.9, "59 s ago"],
    [90, "in 1 min"],
    [-7200, "2 h ago"],
    [86_400 * 3, "in 3 days"],
    [-86_400 * 400, "13 months ago"],
  ])("%d s is %s", (seconds, text) => {
    expect(formatRelative(after(seconds), NOW)).toBe(text);
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0 s"],
    [0.0000004, "1 µs"],
    [0.00082, "820 µs"],
    [0.0124, "12.4 ms"],
    [0.9999, "1.00 s"],
    [1.236, "1.24 s"],
    [42.36, "42.4 s"],
    [185, "3 m 5 s"],
    [7800, "2 h 10 m"],
    [86_400 * 3, "3 d"],
    [-2, "−2.00 s"],
  ])("%d is %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe("instants", () => {
  it("are written in UTC whatever the local zone is", () => {
    expect(formatInstant(new Date("2026-03-29T01:02:03.045Z"), "utc", true)).toBe("2026-03-29 01:02:03.045");
  });

  it("have four digits of a year, for it is typed one by one", () => {
    const typed = "0002-11-16T10:00";
    expect(toInput(fromInput(typed, "utc") as Date, "utc")).toBe(typed);
    expect(toInput(fromInput(typed, "local") as Date, "local")).toBe(typed);
  });

  it("go into an input and come back", () => {
    const minute = new Date("2026-11-16T07:05:00Z");
    expect(fromInput(toInput(minute, "utc"), "utc")).toEqual(minute);
    expect(fromInput(toInput(minute, "local"), "local")).toEqual(minute);
    expect(fromInput("nonsense", "utc")).toBeNull();
  });
});
