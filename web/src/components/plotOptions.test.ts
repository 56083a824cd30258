import { afterEach, describe, expect, it, vi } from "vitest";
import { wallClock } from "./plotOptions";

const MIDNIGHT = Date.UTC(2026, 10, 16) / 1000;

describe("the marks of the time", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("stand at the midnights of the zone that is chosen", () => {
    vi.stubEnv("TZ", "Asia/Kolkata");
    expect(wallClock(MIDNIGHT, "utc").toString()).toMatch(/^Mon Nov 16 2026 00:00:00/);
    expect(wallClock(MIDNIGHT, "local").toString()).toMatch(/^Mon Nov 16 2026 05:30:00/);
  });
});
