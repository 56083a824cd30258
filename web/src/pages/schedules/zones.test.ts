import { describe, expect, it } from "vitest";
import { anySeconds, formatWall } from "./zones";

describe("instants by a zone's clock", () => {
  const ticks = [{ at: "2026-11-18T12:05:40Z" }, { at: "2026-11-18T12:06:00Z" }];

  it("have all their seconds where one has", () => {
    expect(anySeconds(ticks)).toBe(true);
    expect(anySeconds(ticks.slice(1))).toBe(false);
    expect(formatWall(new Date("2026-11-18T12:06:00Z"), "Europe/Berlin", true)).toBe(
      "Wed 2026-11-18 13:06:00",
    );
    expect(formatWall(new Date("2026-11-18T12:06:00Z"), "Europe/Berlin")).toBe("Wed 2026-11-18 13:06");
  });
});
