import { describe, expect, it } from "vitest";
import { plainLog, rangeOf, secondsAtRate, sinceOf } from "./cause";

describe("dead letters", () => {
  it("are asked for from a whole minute on", () => {
    expect(sinceOf("1h", new Date("2026-11-16T12:00:42.5Z"))).toBe("2026-11-16T11:00:00.000Z");
    expect(sinceOf("all", new Date())).toBeUndefined();
    expect(rangeOf("nonsense")).toBe("all");
  });

  it("tell how long a redrive takes", () => {
    expect(secondsAtRate(1000, 50)).toBe(20);
    expect(secondsAtRate(1000, 0)).toBeUndefined();
  });

  it("show a log without its colours", () => {
    expect(plainLog("\u001b[1;32mok\u001b[0m done")).toBe("ok done");
  });
});
