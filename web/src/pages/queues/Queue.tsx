/** One queue beside the list: its flow over time, and who waits in it. */
import { useMemo } from "react";
import { useApi } from "~/api/hooks";
import { Drawer } from "~/components/Dialog";
import { ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Plot } from "~/components/Plot";
import { Skeleton } from "~/components/Skeleton";
import { Segments } from "~/components/Tabs";
import { useClock } from "~/lib/clock";
import { useSearchState } from "~/lib/search";
import { formatNumber, safeText } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import { type FlowRange, flowOf, RANGES } from "./flow";
import { Waiting } from "./Waiting";

interface QueueProps {
  queue: string;
  /** Whose; undefined is all tenants that have one of this name. */
  tenant: string | undefined;
  onClose: () => void;
}

export function Queue({ queue, tenant, onClose }: QueueProps) {
  const waiting = useApi("/v1/queues/{queue}/waiting", {
    path: { queue },
    query: { tenant },
    live: 2,
    keep: false,
  });
  return (
    <Drawer
      wide
      open
      title={`Queue ${safeText(queue)}${tenant ? ` of ${safeText(tenant)}` : ""}`}
      onClose={onClose}
    >
      <Flow queue={queue} tenant={tenant} />
      <Panel title="Who waits" note="longest first, and for what" flush>
        {waiting.error && <ErrorNote error={waiting.error} retry={() => void waiting.refetch()} />}
        <Waiting
          lanes={waiting.data?.items}
          more={waiting.data?.more ?? false}
          tenants={tenant === undefined}
        />
      </Panel>
    </Drawer>
  );
}

function Flow({ queue, tenant }: { queue: string; tenant: string | undefined }) {
  const { params, change } = useSearchState();
  const range = RANGES.find((each) => each.value === params.get("range")) ?? (RANGES[0] as FlowRange);
  // By the minute, so that the question stays the same for a while.
  const minute = useClock((now) => Math.floor(now.getTime() / 60_000));
  const since = new Date(minute * 60_000 - range.seconds * 1000).toISOString();
  const flow = useApi("/v1/queues/{queue}/statistics", {
    path: { queue },
    query: { tenant, since },
    live: 5,
  });
  const drawn = useMemo(() => flow.data && flowOf(flow.data), [flow.data]);
  return (
    <Panel
      title="Flow"
      note="jobs a second"
      actions={
        <Segments
          label="Range"
          choices={RANGES}
          value={range.value}
          onChange={(value) => change({ range: value === RANGES[0]?.value ? null : value })}
        />
      }
    >
      {flow.error && <ErrorNote error={flow.error} retry={() => void flow.refetch()} />}
      {drawn === undefined ? (
        <Skeleton height="22rem" />
      ) : (
        <>
          <Plot
            label={`Flow of the queue ${safeText(queue)}`}
            times={drawn.times}
            series={drawn.rates}
            format={formatNumber}
          />
          <Plot
            label={`Start delay in the queue ${safeText(queue)}`}
            times={drawn.times}
            series={drawn.waits}
            kind="bars"
            height={120}
            format={formatDuration}
          />
        </>
      )}
    </Panel>
  );
}
