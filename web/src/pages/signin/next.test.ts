import { expect, it } from "vitest";
import { safePath } from "./next";

it("leads within the console only", () => {
  expect(safePath("/jobs?status=failed")).toBe("/jobs?status=failed");
  for (const bad of [null, "", "jobs", "//evil.example", "/\\\\evil.example", "https://evil.example"]) {
    expect(safePath(bad)).toBe("/");
  }
});
