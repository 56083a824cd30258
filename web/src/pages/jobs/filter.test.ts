import { describe, expect, it } from "vitest";
import { labelOf, readLabels } from "~/lib/labels";
import { hindrance } from "./bulk";
import {
  actionFilter,
  cliArguments,
  cursorAbove,
  filterFaults,
  inLine,
  isEmpty,
  LIVE_STATES,
  listQuery,
  momentOf,
  readFilter,
  readMoment,
  splitLabels,
} from "./filter";

const NOW = new Date("2026-11-16T12:00:00Z");
const read = (query: string) => readFilter(new URLSearchParams(query), "utc");

describe("the filter in an address", () => {
  it("reads every part", () => {
    const filter = read("status=pending,failed&task=add&label=a:b:c&worker=7&since=2h");
    expect(filter.states).toEqual(["scheduled", "blocked", "ready", "failed"]);
    expect(filter).toMatchObject({ labels: ["a:b:c"], worker: "7", since: "2h" });
    expect(filterFaults(filter)).toEqual({});
    expect(isEmpty(filter)).toBe(false);
    expect(isEmpty(read("tenant=red&cols=id"))).toBe(true);
  });

  it("keeps what cannot be read and says what is wrong with it", () => {
    const half = read("label=team&worker=w1&since=yesterday&until=1x");
    expect(half).toMatchObject({ labels: ["team"], worker: "w1", since: "yesterday", until: "1x" });
    expect(Object.keys(filterFaults(half))).toEqual(["label", "worker", "since", "until"]);
    expect(filterFaults(read("label=a:1&label=a:2"))).toHaveProperty("label");
    expect(filterFaults(read("status=failed,canceled")).status).toBe("There is no state canceled");
    expect(isEmpty(read("status=canceled"))).toBe(false);
  });

  it("turns times before now into instants and leaves nonsense out", () => {
    expect(readMoment("2h", NOW, "utc")).toBe("2026-11-16T10:00:00.000Z");
    expect(readMoment("1h30m", NOW, "utc")).toBe("2026-11-16T10:30:00.000Z");
    expect(readMoment("2026-11-16T10:00+01:00", NOW, "utc")).toBe("2026-11-16T09:00:00.000Z");
    expect(readMoment("yesterday-ish", NOW, "utc")).toBeUndefined();
    expect(readMoment("2026", NOW, "utc")).toBeUndefined();
    expect(readMoment("2026-02-30", NOW, "utc")).toBeUndefined();
    expect(readMoment("2026-13-01", NOW, "utc")).toBeUndefined();
    expect(listQuery(read("since=1d"), NOW).since).toBe("2026-11-15T12:00:00.000Z");
  });

  it("reads an instant without a zone in the chosen one", () => {
    expect(readMoment("2026-11-16 10:00", NOW, "utc")).toBe("2026-11-16T10:00:00.000Z");
    expect(readMoment("2026-11-16", NOW, "utc")).toBe("2026-11-16T00:00:00.000Z");
    expect(readMoment("2026-11-16", NOW, "local")).toBe(new Date(2026, 10, 16).toISOString());
  });

  it("narrows an action to the states it is for", () => {
    expect(actionFilter(read("status=ready,failed"), NOW, "red", LIVE_STATES)).toMatchObject({
      status: "ready",
      tenant: "red",
    });
    expect(actionFilter(read("task=add"), NOW, undefined, ["failed"])?.status).toBe("failed");
    expect(actionFilter(read("label=a:b:c"), NOW, undefined, ["failed"])?.label).toEqual({ a: "b:c" });
  });

  it("is of no action that none of its states, or none that can be read, is for", () => {
    expect(actionFilter(read("status=succeeded"), NOW, undefined, LIVE_STATES)).toBeUndefined();
    expect(actionFilter(read("since=yesterday"), NOW, undefined, LIVE_STATES)).toBeUndefined();
    expect(actionFilter(read("status=canceled"), NOW, undefined, LIVE_STATES)).toBeUndefined();
    const all = (query: string) => hindrance("cancel", { filter: read(query), tenant: "red" });
    expect(all("status=succeeded")).toMatch(/^Only for jobs that are scheduled,/);
    expect(all("label=team")).toMatch(/cannot be read/);
    expect(all("status=succeeded,running")).toBeUndefined();
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
    expect(cliArguments(read("since=1h 30m&until=2026-11-16"), undefined)).toEqual([
      "--since",
      "1h30m",
      "--until",
      "2026-11-16T00:00:00.000Z",
    ]);
  });
});

describe("cursors", () => {
  it("stand just above a job and tell its time", () => {
    expect(cursorAbove("019a8b2c-0000-7000-8000-0000000000ff")).toBe("019a8b2c-0000-7000-8000-000000000100");
    expect(momentOf("019a8b2c-0000-7000-8000-0000000000ff").getTime()).toBe(0x019a8b2c0000);
  });
});

describe("labels", () => {
  it("stand in one field, with spaces in their values", () => {
    expect(splitLabels(" team:a place:far  meadow b:c:d ")).toEqual(["team:a", "place:far  meadow", "b:c:d"]);
    expect(splitLabels("team:a b")).toEqual(["team:a b"]);
    expect(splitLabels("team a:b")).toEqual(["team", "a:b"]);
    expect(splitLabels("")).toEqual([""]);
  });

  it("are read as people write them", () => {
    expect(labelOf("a:b:c")).toEqual(["a", "b:c"]);
    expect(labelOf(":b")).toBeUndefined();
    expect(readLabels("a=1, b = x=y,", ",")).toEqual({ a: "1", b: "x=y" });
    expect(readLabels("a=1,2\nb=", "\n")).toEqual({ a: "1,2", b: "" });
    expect(readLabels("x", ",")).toBeUndefined();
    expect(readLabels(" ", ",")).toEqual({});
  });
});
