import { describe, expect, it } from "vitest";
import type { Definition } from "../types";
import { allFaults, ownFaults, placeOf } from "./faults";
import { definitionOf, emptyForm, formOf } from "./form";

const FULL = {
  name: "month-end",
  task: "report",
  description: "for finance",
  params: { day: "x" },
  tick_param: "day",
  rules: [{ cron: "0 18 LW * *" }, { every: "90m", anchor: "2026-01-01T00:00:00Z" }, { every: 60 }],
  tz: "Europe/Berlin",
  gap: "skip",
  fold: "both",
  calendars: ["de"],
  on_blocked: "previous",
  windows: [{ days: "MON-FRI", start: "08:00", end: "18:00" }],
  outside: "defer",
  starts_at: "2026-01-01T00:00:07Z",
  ends_at: "2027-01-01T00:00:00Z",
  max_runs: 5,
  jitter: "30s",
  overlap: "queue",
  missed: "all",
  missed_limit: 24,
  job: { queue: "q", priority: 7, labels: { team: "a" }, requires: { labels: { gpu: "yes" } } },
} as unknown as Definition;

describe("the form of a definition", () => {
  it("gives back every field of it", () => {
    expect(definitionOf(formOf(FULL))).toEqual({ ...FULL, on_blocked: "previous", outside: "defer" });
  });

  it("leaves out what was left at its default, but for the policies", () => {
    const form = { ...emptyForm("UTC"), name: "s", task: "t" };
    expect(definitionOf(form)).toEqual({
      name: "s",
      task: "t",
      tz: "UTC",
      rules: [{ cron: "0 9 * * *" }],
      params: {},
      overlap: "allow",
      missed: "latest",
    });
  });

  it("hands what is no number to the server", () => {
    expect(definitionOf({ ...emptyForm("UTC"), max_runs: "many" })).toMatchObject({ max_runs: "many" });
  });
});

describe("the faults of a form", () => {
  it("are shown at the fields they are about", () => {
    expect(placeOf("tz")).toBe("tz");
    expect(placeOf("rules[1].cron")).toBe("rules[1]");
    expect(placeOf("rules")).toBe("rules");
    expect(placeOf("priority")).toBe("job.priority");
    expect(placeOf("job.nosuch")).toBe("job.other");
    expect(placeOf("params")).toBe("params");
    expect(placeOf("")).toBeNull();
  });

  it("name what is missing only when it is to be saved", () => {
    const form = emptyForm("UTC");
    expect([...ownFaults(form, false)]).toEqual([]);
    expect([...ownFaults(form, true).keys()]).toEqual(["name", "task"]);
    form.rules = [];
    form.job.labels = "wrong";
    form.job.other = "[]";
    expect([...ownFaults(form, false).keys()]).toEqual(["rules", "job.labels", "job.other"]);
  });

  it("are told without the name of the field", () => {
    const said = { code: "invalid_input", detail: "tz: 'X' is not a zone", field: "tz" };
    expect(allFaults(new Map(), [], said).at.get("tz")).toBe("'X' is not a zone");
    expect(allFaults(new Map(), [], { ...said, field: "" }).rest).toEqual(["tz: 'X' is not a zone"]);
    const errors = [{ pointer: "/params/n", detail: "is too small" }];
    expect(allFaults(new Map(), [], { ...said, errors }).params).toEqual([
      { pointer: "/n", detail: "is too small" },
    ]);
  });
});
