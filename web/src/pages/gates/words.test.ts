import { describe, expect, it } from "vitest";
import { NEW, orderOf, percentOf, reachOf, runningChoices, whatOf } from "./words";

describe("gates", () => {
  it("tell which jobs they are for", () => {
    expect(whatOf({})).toBe("everything");
    expect(whatOf({ task: "mail", percent: 10, condition: "params.a == 1" })).toBe(
      "task mail, 10 % of them, if params.a == 1",
    );
  });

  it("leave out what was left empty", () => {
    expect(orderOf({ ...NEW, task: " mail ", reason: "down " })).toEqual({
      action: "hold",
      tenant: null,
      task: "mail",
      queue: null,
      condition: null,
      percent: null,
      running: "leave",
      expires_in: null,
      reason: "down",
    });
  });

  it("are for up to a hundred of a hundred", () => {
    expect(["", "7", "100", "101", "5%", "7.5"].map(percentOf)).toEqual(["", "7", "100", "100", "5", "7"]);
  });

  it("do nothing to running jobs that their action does not allow", () => {
    expect(runningChoices("drop").map((choice) => choice.value)).toEqual(["leave", "cancel"]);
    expect(orderOf({ ...NEW, action: "drop", running: "move" }).running).toBe("leave");
  });
});

describe("the reach of a stop", () => {
  const reach = { pending: 1234, running: 1, workers: 1, tenants: 3, queues: 5, largest: [] };

  it("is told in numbers", () => {
    expect(reachOf(reach, "cancel")).toEqual([
      "1,234 waiting jobs in 5 queues of 3 tenants will not start.",
      "1 running job on 1 worker is cancelled.",
      "New jobs are accepted, and wait.",
    ]);
    expect(reachOf({ ...reach, tenant: "red", running: 2 }, "leave")[1]).toBe(
      "2 running jobs on 1 worker go on to their end.",
    );
  });
});
