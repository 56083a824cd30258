import { describe, expect, it } from "vitest";
import { flowOf } from "./flow";

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
      ["in", [2, 0]],
      ["started", [1, 0]],
      ["succeeded", [0, 0]],
      ["failed", [0, 0]],
    ]);
    expect(flow.waits[0]?.values).toEqual([0.5, null]);
  });
});
