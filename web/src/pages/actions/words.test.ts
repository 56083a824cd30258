import { describe, expect, it } from "vitest";
import { type BulkAction, countsOf, filterWords, isUndoable, shareDone } from "./words";

const NOW = new Date("2026-11-16T12:00:00Z");
const action = (more: Partial<BulkAction>): BulkAction => ({
  action: "cancel",
  state: "done",
  tenant: "red",
  filter: {},
  ...more,
});

describe("an action", () => {
  it("can be undone for its time, if it is of the kind", () => {
    expect(isUndoable(action({ done: 3, undo_until: "2026-11-16T12:30:00Z" }), NOW)).toBe(true);
    expect(isUndoable(action({ done: 3, undo_until: "2026-11-16T11:30:00Z" }), NOW)).toBe(false);
    expect(isUndoable(action({ state: "running" }), NOW)).toBe(true);
    expect(isUndoable(action({ state: "undone", undo_until: "2026-11-16T12:30:00Z" }), NOW)).toBe(false);
    expect(isUndoable(action({ action: "redrive", state: "running" }), NOW)).toBe(false);
  });

  it("tells how far it is", () => {
    expect(shareDone(action({ state: "running", total: 200, seen: 50 }))).toBe(0.25);
    expect(shareDone(action({ state: "running", total: 200, seen: 50, more: true }))).toBeUndefined();
    expect(shareDone(action({ state: "undoing", done: 10, undone: 5 }))).toBe(0.5);
    expect(shareDone(action({}))).toBe(1);
  });

  it("counts in words", () => {
    expect(countsOf(action({ total: 1200, done: 1000, skipped: 150, failed: 50 }))).toBe(
      "1,000 of 1,200 done, 150 had moved on, 50 failed",
    );
    expect(countsOf(action({ total: 5, more: true }))).toBe("0 of at least 5 done");
  });

  it("says which jobs it is for", () => {
    expect(filterWords({ status: "failed", task: "mail", cause: "4f2a" })).toBe(
      "failed jobs of mail with the cause 4f2a",
    );
    expect(filterWords({ status: "blocked,ready,running,scheduled" })).toBe("running or waiting jobs");
    expect(filterWords({ ids: ["a", "b"], label: { wave: "7" } })).toBe("2 chosen jobs labelled wave=7");
  });
});
