import { describe, expect, it } from "vitest";
import { diffLines } from "./diff";
import { matches, rangeOf, sinceOf, summed, type Task, totalsOf } from "./figures";
import { NO_OPTIONS, optionFaults, requestOf, submitWords } from "./submit";

const task = (more: Partial<Task> = {}): Task => ({
  definition: { name: "mail", description: "Sends it" },
  updated_at: "",
  ...more,
});

describe("figures of tasks", () => {
  it("add up counts and weigh durations by the runs", () => {
    const sum = summed([
      { submitted: 3, started: 1, succeeded: 1, p50: 1 },
      { submitted: 1, started: 3, failed: 2, cancelled: 1, p50: 3, p95: 9 },
    ]);
    expect(sum).toMatchObject({ submitted: 4, ended: 4, failed: 2, p50: 2.5, p95: 9, wait: undefined });
  });

  it("are the tenant's for its own task and everybody's for a shared one", () => {
    const totals = [
      { tenant: "red", task: "mail", submitted: 1 },
      { tenant: "blue", task: "mail", submitted: 2 },
      { tenant: "red", task: "other", submitted: 4 },
    ];
    expect(totalsOf(task({ tenant: "red" }), totals)?.submitted).toBe(1);
    expect(totalsOf(task(), totals)?.submitted).toBe(3);
    expect(totalsOf(task(), undefined)).toBeUndefined();
  });

  it("cover whole minutes", () => {
    expect(sinceOf("6h", new Date("2026-11-16T12:00:59Z"))).toBe("2026-11-16T06:00:00.000Z");
    expect(rangeOf("x")).toBe("1d");
  });
});

describe("the list of tasks", () => {
  it("is searched by name and description, and by kind", () => {
    expect(matches(task(), "SENDS", "")).toBe(true);
    expect(matches(task(), "", "script")).toBe(false);
    expect(matches(task({ kind: "script" }), "mai", "script")).toBe(true);
  });
});

describe("a submit by hand", () => {
  it("says only what was given", () => {
    expect(requestOf("mail", undefined, NO_OPTIONS, null, undefined)).toEqual({ task: "mail", params: {} });
    const options = {
      ...NO_OPTIONS,
      when: "later" as const,
      delay: "10m",
      priority: "8",
      labels: "a=1, b = x=y",
    };
    expect(requestOf("mail", { to: "ann", cc: undefined }, options, null, "red")).toEqual({
      task: "mail",
      params: { to: "ann" },
      tenant: "red",
      delay: "10m",
      priority: 8,
      labels: { a: "1", b: "x=y" },
    });
  });

  it("tells what is wrong with the options", () => {
    expect(optionFaults(NO_OPTIONS)).toEqual({});
    expect(Object.keys(optionFaults({ ...NO_OPTIONS, when: "later", attempts: "0", labels: "x" }))).toEqual([
      "delay",
      "attempts",
      "labels",
    ]);
  });

  it("is the same on the command line", () => {
    const request = requestOf(
      "mail",
      { to: "ann" },
      { ...NO_OPTIONS, queue: "slow", labels: "a=1" },
      null,
      undefined,
    );
    expect(submitWords(request)).toEqual([
      "horae",
      "submit",
      "mail",
      "--json-params",
      '{"to":"ann"}',
      "--queue",
      "slow",
      "--label",
      "a=1",
    ]);
  });
});

describe("a difference", () => {
  it("is told line by line", () => {
    expect(
      diffLines("--- version 1\n+++ version 2\n@@ -1,2 +1,2 @@\n name: x\n-a: 1\n+a: 2\n").map(
        (line) => line.kind,
      ),
    ).toEqual(["head", "head", "place", "same", "gone", "new"]);
  });
});
