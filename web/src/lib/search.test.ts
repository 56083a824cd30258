import { expect, it } from "vitest";
import { withChanges } from "./search";

it("changes what is named, removes what is empty and keeps the rest", () => {
  const before = new URLSearchParams("tenant=a&status=failed&task=x");
  const after = withChanges(before, { status: ["ready", "running"], task: null, queue: "" });
  expect(after.toString()).toBe("tenant=a&status=ready&status=running");
  expect(before.toString()).toBe("tenant=a&status=failed&task=x");
});
