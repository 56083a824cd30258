import { usePages } from "~/api/hooks";
import type { Job } from "~/api/types";
import { Json } from "~/components/Json";
import { Empty, ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Pager } from "~/components/Pager";
import { Skeleton } from "~/components/Skeleton";
import { ENDED_STATES } from "~/components/StateBadge";
import { Time } from "~/components/Time";
import { plural } from "~/lib/text";
import styles from "./Job.module.css";

/** Pieces of the result that the job gave while it ran. */
export function Pieces({ job }: { job: Job }) {
  const over = ENDED_STATES.includes(job.state);
  const pieces = usePages("/v1/jobs/{job_id}/partial", {
    path: { job_id: job.id },
    query: { limit: 100 },
    every: over ? undefined : 2,
  });
  const items = pieces.data?.pages.flatMap((page) => page.items);
  if (pieces.error) return <ErrorNote error={pieces.error} />;
  if (items === undefined) return <Skeleton height="6rem" />;
  if (items.length === 0) {
    return (
      <Empty title="No partial results" icon="jobs">
        A task gives them while it runs, with <code>ctx.partial(value)</code>.
      </Empty>
    );
  }
  const full = (pieces.data?.pages.at(-1)?.items.length ?? 0) >= 100;
  return (
    <Panel>
      <ol className={styles.pieces}>
        {items.map((item) => (
          <li key={`${item.attempt}-${item.seq}`}>
            <Time at={item.at} show="exact" />
            <Json value={item.data} label={`partial result ${item.seq} of attempt ${item.attempt}`} />
          </li>
        ))}
      </ol>
      <Pager
        about={plural(items.length, "piece")}
        more={full && pieces.hasNextPage}
        busy={pieces.isFetchingNextPage}
        onMore={() => void pieces.fetchNextPage()}
      />
    </Panel>
  );
}
