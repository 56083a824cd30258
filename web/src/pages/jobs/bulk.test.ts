import { expect, it } from "vitest";
import type { Job } from "~/api/types";
import { actionCommand, asShown, EMPTY_FORM, hindrance, leftOf, requestsOf } from "./bulk";
import { readFilter } from "./filter";

const filter = (query: string) => readFilter(new URLSearchParams(query), "utc");
const NOW = new Date("2026-11-16T12:00:00Z");

it("makes no request of what nothing can match", () => {
  const target = { filter: filter("status=succeeded"), tenant: "red" };
  expect(requestsOf("cancel", target, EMPTY_FORM, NOW)).toBeUndefined();
  expect(hindrance("cancel", target)).toBeDefined();
  expect(hindrance("retry", { jobs: [] })).toBe("None of the selected jobs is failed, cancelled, dropped");
});

const job = (id: string, state: Job["state"], tenant = "red") => ({ id, state, tenant }) as Job;

it("knows chosen jobs as the page shows them now, and others as they were", () => {
  const chosen = [job("x", "running"), job("y", "running")];
  const now = asShown(chosen, [job("y", "failed"), job("z", "failed")]);
  expect(now.map(({ id, state }) => [id, state])).toEqual([
    ["x", "running"],
    ["y", "failed"],
  ]);
  expect(hindrance("redrive", { jobs: chosen })).toBeDefined();
  expect(hindrance("redrive", { jobs: now })).toBeUndefined();
});

it("asks again only for the tenants for which it is not done", () => {
  const target = { jobs: [job("x", "failed"), job("y", "failed", "blue"), job("z", "failed")] };
  expect(leftOf(target, [])).toEqual(target);
  expect(leftOf(target, ["red"])).toEqual({ jobs: [target.jobs[1]] });
});

it("says an action on chosen jobs on the command line", () => {
  const of = (action: "redrive" | "retry" | "cancel", rate?: number) =>
    actionCommand({ action, filter: { tenant: "red", ids: ["x", "y"] }, reason: "why not", rate });
  expect(of("redrive", 5)).toBe(
    "horae dead redrive --job x --job y --where tenant=red --rate 5 --reason 'why not'",
  );
  expect(of("retry")).toBe("horae retry x y");
  expect(of("retry", 5)).toBeUndefined();
  expect(of("cancel")).toBe("horae cancel x y --reason 'why not'");
});
