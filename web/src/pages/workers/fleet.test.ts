import { describe, expect, it } from "vitest";
import { groupsOf, healthOf, matches, maySteer, type Worker } from "./fleet";

function worker(given: Partial<Worker>): Worker {
  return {
    id: 1,
    name: "w",
    host: "h",
    state: "active",
    health: "healthy",
    tenant: null,
    slots: 4,
    running: 1,
    tasks: ["add"],
    joined_at: "2026-11-16T07:00:00Z",
    seen_at: "2026-11-16T07:00:00Z",
    ...given,
  };
}

describe("groupsOf", () => {
  it("groups by region and type, those without either last", () => {
    const groups = groupsOf([
      worker({ id: 1 }),
      worker({ id: 2, region: "us" }),
      worker({ id: 3, region: "eu", kind: "gpu" }),
      worker({ id: 4, region: "eu", kind: "gpu" }),
    ]);
    expect(groups.map((group) => [group.region, group.kind, group.workers.length])).toEqual([
      ["eu", "gpu", 2],
      ["us", null, 1],
      [null, null, 1],
    ]);
  });

  it("counts no slots of the gone", () => {
    const [group] = groupsOf([worker({}), worker({ id: 2, health: "gone", slots: 100 })]);
    expect([group?.slots, group?.running, group?.troubled]).toEqual([4, 1, 0]);
  });
});

describe("maySteer", () => {
  it("leaves those of all tenants to keys of none, and the gone to nobody", () => {
    const [shared, red] = [worker({}), worker({ tenant: "red" })];
    expect([maySteer(shared, null), maySteer(red, undefined), maySteer(red, "red")]).toEqual([
      true,
      true,
      true,
    ]);
    expect([maySteer(shared, "red"), maySteer(red, "blue")]).toEqual([false, false]);
    expect(maySteer(worker({ health: "gone" }), null)).toBe(false);
  });
});

describe("healthOf", () => {
  it("tells probation, unless something worse is the matter", () => {
    expect(healthOf(worker({ probation: true }))).toBe("probation");
    expect(healthOf(worker({ probation: true, health: "degraded" }))).toBe("degraded");
    expect(healthOf(worker({ health: "overloaded" }))).toBe("overloaded");
  });
});

describe("matches", () => {
  it("finds by name, label and task", () => {
    const one = worker({ name: "mill-7", labels: { os: "linux" } as never, tasks: ["render"] });
    expect(["MILL", "os=linux", "rend", ""].every((text) => matches(one, text))).toBe(true);
    expect(matches(one, "windows")).toBe(false);
  });
});
