import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "~/api/call";
import { ApiError } from "~/api/error";
import { useSettled } from "~/lib/typing";
import { AHEAD } from "../NextTicks";
import type { Definition, Tick } from "../types";
import type { Trouble } from "./faults";

const PAUSE = 250;
const UNNAMED = "unnamed";

export interface DraftPreview {
  words: readonly string[];
  ticks: readonly Tick[];
  /** What the server has against it. */
  trouble: Trouble | null;
  /** What is shown is of an earlier state of the form. */
  stale: boolean;
}

/** The ticks of a definition under construction, asked for when the typing pauses. Null: nothing to ask for. */
export function usePreview(definition: Definition | null, tenant: string | undefined): DraftPreview {
  const asked = useSettled(
    definition && JSON.stringify({ ...named(definition), tenant, draft: true, count: AHEAD }),
    PAUSE,
  );
  const [good, setGood] = useState<{ words: readonly string[]; ticks: readonly Tick[] }>({
    words: [],
    ticks: [],
  });
  const found = useQuery({
    queryKey: ["/v1/schedules/preview", asked],
    queryFn: ({ signal }) =>
      call("post", "/v1/schedules/preview", { body: JSON.parse(asked ?? "{}") as never, signal }),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 10_000,
    refetchOnWindowFocus: false,
  });
  const answer = found.error ? undefined : found.data;
  useEffect(() => {
    if (answer) setGood({ words: answer.words, ticks: answer.items });
  }, [answer]);
  const problem = found.error instanceof ApiError ? found.error.problem : (answer?.problem ?? null);
  // The answer may still be that of a moment ago, when there was no task yet.
  const blank = problem?.code === "unknown_task" && problem.detail.includes(`'${UNNAMED}'`);
  const trouble = blank ? null : (problem as Trouble | null);
  return { ...good, trouble, stale: definition === null || found.error !== null };
}

/** What has not been filled in yet must not keep the ticks from being shown. */
function named(definition: Definition): Definition {
  return { ...definition, name: definition.name || UNNAMED, task: definition.task || UNNAMED };
}
