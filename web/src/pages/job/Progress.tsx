import { useApi } from "~/api/hooks";
import type { Job } from "~/api/types";
import { Meter } from "~/components/Facts";
import { Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { formatNumber, formatPercent } from "~/lib/text";
import styles from "./Job.module.css";

/** How far a running job is, and when it will probably end. */
export function Progress({ job }: { job: Job }) {
  const told = useApi("/v1/jobs/{job_id}/explain", { path: { job_id: job.id }, live: 2, every: 5 }).data;
  const { progress } = job;
  return (
    <Panel>
      {job.cancel_requested && (
        <Note tone="warn">It was asked to stop; it ends when its processes are gone.</Note>
      )}
      <div className={styles.progress}>
        {progress?.total ? (
          <>
            <Meter label="Progress" value={progress.done} most={progress.total} />
            <strong>{formatPercent(Math.min(1, progress.done / progress.total))}</strong>
          </>
        ) : null}
        {progress && (
          <span>
            {formatNumber(progress.done)}
            {progress.total ? ` of ${formatNumber(progress.total)}` : " done"}
            {progress.note && (
              <>
                {" "}
                · <Text value={progress.note} />
              </>
            )}
          </span>
        )}
        <span className={styles.quiet}>
          {told?.estimate ? (
            <>
              ends about <Time at={told.estimate.at} /> (from <Text value={told.estimate.basis} />)
            </>
          ) : (
            told?.no_estimate && (
              <>
                no estimate of its end: <Text value={told.no_estimate} />
              </>
            )
          )}
        </span>
      </div>
    </Panel>
  );
}
