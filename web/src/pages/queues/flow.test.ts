import { describe, expect, it } from "vitest";
import { flowOf, growthOf } from "./flow";

describe("a queue", () => {
  const queue = {
    tenant: "default",
    queue: "mail",
    pending: 100,
    running: 0,
    submit_rate: 10,
    start_rate: 10,
    success_rate: 10,
    failure_rate: 0,
    retry_rate: 0,
  };

  it("grows by what comes in or comes back and does not start", () => {
    expect(growthOf(queue)).toBe(0);
    expect(growthOf({ ...queue, start_rate: 4 })).toBe(6);
    expect(growthOf({ ...queue, start_rate: 15 })).toBe(-5);
  });

  it("does not shrink when what starts are second attempts", () => {
    expect(growthOf({ ...queue, start_rate: 15, retry_rate: 5 })).toBe(0);
  });

  it("does not shrink when it is empty", () => {
    expect(growthOf({ ...queue, pending: 0, start_rate: 15 })).toBe(0);
  });
});

describe("flowOf", () => {
  it("turns counts into rates, and leaves gaps where nothing started", () => {
    const flow = flowOf({
      since: "2026-11-16T07:00:00Z",
      until: "2026-11-16T07:02:00Z",
      step: 60,
      items: [
        { at: "2026-11-16T07:00:00Z", submitted: 120, started: 60, wait: 0.5 },
        { at: "2026-11-16T07:01:00Z" },
      ],
    });
    expect(flow.times).toEqual([1794812400, 1794812460]);
    expect(flow.rates.map((line) => [line.label, line.values])).toEqual([
      ["submitted", [2, 0]],
      ["started", [1, 0]],
      ["succeeded", [0, 0]],
      ["failed", [0, 0]],
    ]);
    expect(flow.waits[0]?.values).toEqual([0.5, null]);
  });
});
