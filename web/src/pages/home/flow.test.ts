import { describe, expect, it } from "vitest";
import { perSecond, RecentFlow, rateUnit, stepLengths } from "./flow";

describe("rateUnit", () => {
  it("is the first in which the largest rate has a digit before the point", () => {
    expect([120, 1, 0.5, 0.01, 0.00001, 0].map((rate) => rateUnit(rate).name)).toEqual([
      "s",
      "s",
      "min",
      "h",
      "h",
      "s",
    ]);
  });
});

describe("rates of steps", () => {
  it("take the step that still goes on for what it is, and leave it out when it has just begun", () => {
    expect(stepLengths([0, 10, 20], 10, 25)).toEqual([10, 10, 5]);
    expect(stepLengths([0, 10, 20], 10, 21)).toEqual([10, 10, null]);
    expect(perSecond([20, 30, 40], [10, 10, null])).toEqual([2, 3, null]);
  });
});

describe("RecentFlow", () => {
  it("forgets what is older than its span", () => {
    const flow = new RecentFlow(10);
    flow.add(0, 50, 100);
    flow.add(9, 30, 10);
    expect(flow.rates(9, -60)).toEqual({ ended: 8, submitted: 11 });
    expect(flow.rates(12, -60)).toEqual({ ended: 3, submitted: 1 });
    expect(flow.rates(30, -60)).toEqual({ ended: 0, submitted: 0 });
  });

  it("takes a page that has just been opened, or was away, for what it has heard since", () => {
    const flow = new RecentFlow(10);
    flow.add(18, 1000, 1000);
    flow.add(21, 6, 3);
    flow.add(22, 6, 3);
    expect(flow.rates(21, 20)).toBeUndefined();
    expect(flow.rates(22, 20)).toEqual({ ended: 6, submitted: 3 });
  });
});
