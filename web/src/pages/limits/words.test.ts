import { describe, expect, it } from "vitest";
import { draftOf, exactRate, faultOf, type Limit, putOf, rateWords, scopeOf } from "./words";

const LIMIT: Limit = {
  name: "mails",
  queue: "mail",
  each: ["tenant", "key"],
  max_running: 0,
  rate: 10 / 3600,
  burst: 5,
  made_by: "ann",
  made_at: "2026-11-16T07:00:00Z",
};

describe("limits", () => {
  it("are told in words", () => {
    expect(scopeOf(LIMIT)).toBe("queue mail; each tenant and key for itself");
    expect(scopeOf({ ...LIMIT, queue: null, each: [] })).toBe("everything");
    expect([2.5, 0.5, 10 / 3600].map(rateWords)).toEqual(["2.5/s", "30/m", "10/h"]);
  });

  it("come back from the form as they went in", () => {
    const put = putOf(draftOf(LIMIT));
    expect(put).toEqual({
      tenant: null,
      queue: "mail",
      task: null,
      key: null,
      each: ["tenant", "key"],
      max_running: 0,
      rate: "10/h",
      burst: 5,
      reason: null,
    });
  });

  it("keep their rate to the last digit when something else is changed", () => {
    expect([12345, 5.125, 1000.5, 0.5, 10 / 3600].map(exactRate)).toEqual([
      "12345/s",
      "5.125/s",
      "1000.5/s",
      "30/m",
      "10/h",
    ]);
    expect(putOf(draftOf({ ...LIMIT, rate: 12345 })).rate).toBe("12345/s");
    const uneven = exactRate(Math.PI);
    expect(Number(uneven.replace("/s", ""))).toBe(Math.PI);
    expect(exactRate(1e-7)).toMatch(/^0\.\d+\/h$/);
  });

  it("need a name and a figure", () => {
    expect(faultOf(draftOf(undefined))?.field).toBe("name");
    expect(faultOf({ ...draftOf(undefined), name: "x" })?.field).toBe("maxRunning");
    expect(faultOf({ ...draftOf(undefined), name: "x", maxRunning: "1.5" })?.field).toBe("maxRunning");
    expect(faultOf({ ...draftOf(undefined), name: "x", rate: "10/s" })).toBeUndefined();
  });
});
