import { describe, expect, it } from "vitest";
import { differences } from "./differences";

describe("differences of definitions", () => {
  it("name the fields that changed, came and went", () => {
    const before = { name: "s", task: "t", tz: "UTC", params: { a: 1, b: 2 } as never };
    const after = { name: "s", task: "t", overlap: "skip" as const, params: { b: 2, a: 1 } as never };
    expect(differences(before, after)).toEqual([
      { field: "overlap", before: undefined, after: '"skip"' },
      { field: "tz", before: '"UTC"', after: undefined },
    ]);
    expect(differences(before, before)).toEqual([]);
  });
});
