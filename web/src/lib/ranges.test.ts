import { describe, expect, it } from "vitest";
import { rangeChoices, sinceOf } from "./ranges";

describe("ranges", () => {
  it("are spelt like any other length of time", () => {
    expect(rangeChoices("15m", "30d").map((choice) => choice.label)).toEqual(["15 m", "30 d"]);
  });

  it("begin at whole minutes", () => {
    expect(sinceOf("1h", new Date("2026-11-16T07:00:59Z"))).toBe("2026-11-16T06:00:00.000Z");
  });
});
