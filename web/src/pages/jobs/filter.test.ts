import { describe, expect, it } from "vitest";
import {
  actionFilter,
  cliArguments,
  cursorAbove,
  inLine,
  isEmpty,
  LIVE_STATES,
  listQuery,
  momentOf,
  readFilter,
  readMoment,
} from "./filter";

const NOW = new Date("2026-11-16T12:00:00Z");
const read = (query: string) => readFilter(new URLSearchParams(query));

describe("the filter in an address", () => {
  it("reads every part and drops what is none", () => {
    const filter = read("status=pending,failed,nonsense&task=add&label=a:b:c&label=none&worker=x&since=2h");
    expect(filter.states).toEqual(["scheduled", "blocked", "ready", "failed"]);
    expect(filter.labels).toEqual(["a:b:c"]);
    expect(filter.worker).toBe("");
    expect(isEmpty(filter)).toBe(false);
    expect(isEmpty(read("tenant=red&cols=id"))).toBe(true);
  });

  it("turns times before now into instants and leaves nonsense out", () => {
    expect(readMoment("2h", NOW)).toBe("2026-11-16T10:00:00.000Z");
    expect(readMoment("2026-11-16T10:00+01:00", NOW)).toBe("2026-11-16T09:00:00.000Z");
    expect(readMoment("yesterday-ish", NOW)).toBeUndefined();
    expect(listQuery(read("since=1d"), NOW).since).toBe("2026-11-15T12:00:00.000Z");
  });

  it("narrows an action to the states it is for", () => {
    expect(actionFilter(read("status=ready,failed"), NOW, "red", LIVE_STATES)).toMatchObject({
      status: "ready",
      tenant: "red",
    });
    expect(actionFilter(read("task=add"), NOW, undefined, ["failed"]).status).toBe("failed");
    expect(actionFilter(read("label=a:b:c"), NOW, undefined, ["failed"]).label).toEqual({ a: "b:c" });
  });

  it("knows when jobs come in the order in which they stand", () => {
    expect(inLine(read("status=failed,ready"))).toBe(true);
    expect(inLine(read("status=failed,succeeded"))).toBe(false);
    expect(inLine(read("status=ready&cause=x"))).toBe(false);
    expect(inLine(read("task=add"))).toBe(false);
  });

  it("says the same on the command line", () => {
    expect(cliArguments(read("status=failed&label=a:b"), "red")).toEqual([
      "--status",
      "failed",
      "--tenant",
      "red",
      "--label",
      "a=b",
    ]);
  });
});

describe("cursors", () => {
  it("stand just above a job and tell its time", () => {
    expect(cursorAbove("019a8b2c-0000-7000-8000-0000000000ff")).toBe("019a8b2c-0000-7000-8000-000000000100");
    expect(momentOf("019a8b2c-0000-7000-8000-0000000000ff").getTime()).toBe(0x019a8b2c0000);
  });
});
