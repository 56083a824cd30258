/** One queue beside the list: its flow over time, and who waits in it. */
import { useMemo } from "react";
import { useApi } from "~/api/hooks";
import { useMay } from "~/api/session";
import { ButtonLink } from "~/components/Button";
import { Drawer } from "~/components/Dialog";
import { ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Plot } from "~/components/Plot";
import { Skeleton } from "~/components/Skeleton";
import { Segments } from "~/components/Tabs";
import { useClock } from "~/lib/clock";
import { sinceOf } from "~/lib/ranges";
import { useSearchState } from "~/lib/search";
import { formatNumber, safeText } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import { useHref } from "~/shell/navigation";
import { flowOf, RANGES } from "./flow";
import { Waiting } from "./Waiting";

interface QueueProps {
  queue: string;
  /** Whose; undefined is all tenants that have one of this name. */
  tenant: string | undefined;
  onClose: () => void;
}

export function Queue({ queue, tenant, onClose }: QueueProps) {
  const mayManage = useMay("gates:manage");
  const href = useHref();
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
      footer={
        mayManage && (
          <ButtonLink icon="gates" href={href("/gates", { new: "1", queue, tenant })}>
            Hold this queue…
          </ButtonLink>
        )
      }
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
  const range = RANGES.find((each) => each.value === params.get("range"))?.value ?? "1h";
  const since = useClock((now) => sinceOf(range, now));
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
          value={range}
          onChange={(value) => change({ range: value === "1h" ? null : value })}
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
