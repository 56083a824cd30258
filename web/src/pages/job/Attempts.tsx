import type { ReactNode } from "react";
import { useApi } from "~/api/hooks";
import type { Job, Schemas } from "~/api/types";
import { Badge, type Tone } from "~/components/Badge";
import { WorkerLink } from "~/components/JobParts";
import { Empty, ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { Text } from "~/components/Text";
import { Duration, Time } from "~/components/Time";
import { formatBytes } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import styles from "./Job.module.css";
import { ErrorWords } from "./Params";

type Execution = Schemas["Execution"];

/** Every attempt in a column of its own, so that they can be compared line by line. */
export function Attempts({ job }: { job: Job }) {
  const executions = useApi("/v1/jobs/{job_id}/executions", { path: { job_id: job.id }, live: 2 });
  const items = executions.data?.items;
  if (executions.error) return <ErrorNote error={executions.error} />;
  if (items === undefined) return <Skeleton height="10rem" />;
  if (items.length === 0)
    return (
      <Empty title="No attempt yet" icon="clock">
        The first one begins when a worker takes the job.
      </Empty>
    );
  const used = items.some((item) => item.isolation);
  return (
    <Panel flush>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className={styles.attempts} tabIndex={0} role="region" aria-label="Attempts side by side">
        <table>
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              {items.map((item) => (
                <th key={item.attempt} scope="col">
                  {item.attempt}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Row name="Ended as" items={items} cell={(item) => <End item={item} />} />
            <Row name="Worker" items={items} cell={(item) => <WorkerLink id={item.worker_id} />} />
            <Row name="Started" items={items} cell={(item) => <Time at={item.started_at} show="exact" />} />
            <Row
              name="Took"
              items={items}
              cell={(item) => <Duration since={item.started_at} until={item.ended_at} />}
            />
            <Row
              name="Processor"
              items={items}
              cell={(item) => (item.cpu == null ? "–" : formatDuration(item.cpu))}
            />
            <Row
              name="Peak memory"
              items={items}
              cell={(item) => (item.peak_memory == null ? "–" : formatBytes(item.peak_memory))}
            />
            {used && (
              <Row name="Isolation" items={items} cell={(item) => <Text value={item.isolation ?? "–"} />} />
            )}
            {used && <Row name="Task version" items={items} cell={(item) => item.task_version ?? "–"} />}
            {used && (
              <Row
                name="Read, written"
                items={items}
                cell={(item) =>
                  `${formatBytes(item.read_bytes ?? 0)}, ${formatBytes(item.written_bytes ?? 0)}`
                }
              />
            )}
            <Row
              name="Error"
              items={items}
              cell={(item) => (item.error ? <ErrorWords error={item.error} /> : "–")}
            />
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Row({
  name,
  items,
  cell,
}: {
  name: string;
  items: Execution[];
  cell: (item: Execution) => ReactNode;
}) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {items.map((item) => (
        <td key={item.attempt}>{cell(item)}</td>
      ))}
    </tr>
  );
}

const TONES: Record<string, Tone> = {
  succeeded: "good",
  cancelled: "neutral",
  moved: "neutral",
  undelivered: "neutral",
};

function End({ item }: { item: Execution }) {
  if (!item.end)
    return (
      <Badge tone="info" dot>
        running
      </Badge>
    );
  return <Badge tone={TONES[item.end] ?? "danger"}>{item.end}</Badge>;
}
