import { expect, it } from "vitest";
import { address } from "./call";

it("escapes what stands in a path and leaves empty questions out", () => {
  const made = address(
    "/v1/tasks/{name}/diff",
    { name: "a/b c?" },
    { before: 1, after: null, tenant: "", label: ["x=1", "y"] },
  );
  expect(made).toBe("/v1/tasks/a%2Fb%20c%3F/diff?before=1&label=x%3D1&label=y");
});
