import { describe, expect, it } from "vitest";
import type { Job } from "~/api/types";
import { changeArguments, formOf, readChanges } from "./changes";

const JOB = {
  id: "019a8b2c-0000-7000-8000-0000000000ff",
  task: "add",
  state: "ready",
  queue: "default",
  tenant: "default",
  priority: 5,
  params: { a: 1 },
  run_at: "2026-11-16T12:00:00Z",
  created_at: "2026-11-16T12:00:00Z",
  labels: { team: "red" },
} as unknown as Job;

const form = (changes: Partial<ReturnType<typeof formOf>>) =>
  readChanges({ ...formOf(JOB), ...changes }, JOB);

describe("what a form changes of a job", () => {
  it("is nothing as long as nothing is touched", () => {
    expect(form({})).toEqual({ changes: {} });
  });

  it("is what differs, each in its type", () => {
    expect(form({ params: '{"a": 2}', priority: "9", delay: "10m", labels: "team = blue\nx=1=2" })).toEqual({
      changes: { params: { a: 2 }, priority: 9, delay: "10m", labels: { team: "blue", x: "1=2" } },
    });
  });

  it("says what is wrong and where", () => {
    expect(form({ params: "[1]" })).toMatchObject({ field: "params" });
    expect(form({ params: "{" })).toMatchObject({ field: "params" });
    expect(form({ priority: "11" })).toMatchObject({ field: "priority" });
    expect(form({ labels: "nothing" })).toMatchObject({ field: "labels" });
  });

  it("refuses numbers that would be sent as others", () => {
    expect(form({ params: '{"a": 9007199254740993}' })).toMatchObject({ field: "params" });
    const rounded = { ...JOB, params: { a: [JSON.parse("9007199254740993")] } };
    expect(readChanges({ ...formOf(rounded), params: "{}" }, rounded)).toMatchObject({ field: "params" });
    expect(readChanges({ ...formOf(rounded), priority: "9" }, rounded)).toEqual({ changes: { priority: 9 } });
  });

  it("can be said on the command line", () => {
    expect(changeArguments({ priority: 9, params: { a: 2 }, labels: { t: "b" } })).toEqual([
      "--priority",
      "9",
      "--json-params",
      '{"a":2}',
      "--label",
      "t=b",
    ]);
  });
});
