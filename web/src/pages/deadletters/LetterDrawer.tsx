import { useState } from "react";
import { useApi } from "~/api/hooks";
import { useMay } from "~/api/session";
import type { Job } from "~/api/types";
import { Button, ButtonLink } from "~/components/Button";
import { Drawer } from "~/components/Dialog";
import { Json } from "~/components/Json";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Skeleton } from "~/components/Skeleton";
import { Tabs } from "~/components/Tabs";
import { LongText, Text } from "~/components/Text";
import { plural } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { Attempts } from "./Attempts";
import { plainLog } from "./cause";
import styles from "./DeadLetters.module.css";
import { EditRetry } from "./EditRetry";

interface LetterDrawerProps {
  id: string;
  onClose: () => void;
  onDiscard: (job: Job) => void;
}

const TABS = [
  { id: "error", label: "Error" },
  { id: "retry", label: "Params and retry" },
  { id: "attempts", label: "Attempts" },
  { id: "log", label: "Log" },
];

/** One dead letter: what went wrong, at which attempts, what it printed; and to run it again, perhaps with other params. */
export function LetterDrawer({ id, onClose, onDiscard }: LetterDrawerProps) {
  const asked = useApi("/v1/jobs/{job_id}", { path: { job_id: id }, live: 2, keep: false });
  const [tab, setTab] = useState("error");
  const mayControl = useMay("jobs:control");
  const href = useHref();
  const job = asked.data;
  return (
    <Drawer
      title={`Dead letter ${id}`}
      open
      wide
      onClose={onClose}
      footer={
        job && (
          <>
            <ButtonLink href={href(`/jobs/${id}`)}>Open the job</ButtonLink>
            {mayControl && job.state === "failed" && (
              <Button icon="trash" onClick={() => onDiscard(job)}>
                Discard…
              </Button>
            )}
          </>
        )
      }
    >
      {asked.error && <ErrorNote error={asked.error} />}
      {!job && !asked.error && <Skeleton height="16rem" />}
      {job && (
        <>
          {job.state !== "failed" && (
            <Note tone="good">It is no dead letter any more: the job is {job.state}.</Note>
          )}
          <Tabs label="About this job" tabs={TABS} current={tab} onChange={setTab}>
            {tab === "error" && <ErrorPart job={job} />}
            {tab === "retry" &&
              (mayControl && job.state === "failed" ? (
                <EditRetry job={job} onDone={onClose} />
              ) : (
                <Json label="Params" value={job.params} />
              ))}
            {tab === "attempts" && <Attempts id={id} />}
            {tab === "log" && <LogPart id={id} />}
          </Tabs>
        </>
      )}
    </Drawer>
  );
}

function ErrorPart({ job }: { job: Job }) {
  return (
    <div className={styles.stack}>
      <div className={styles.message}>
        <span className={styles.kind}>
          <Text value={job.error?.kind ?? "unknown"} />
        </span>{" "}
        <Text value={job.error?.message ?? ""} />
      </div>
      {job.error?.traceback && <LongText label="Traceback" value={job.error.traceback} />}
      <p className={styles.quiet}>
        <Text value={job.task} /> failed after {plural(job.attempt ?? 0, "attempt")}.
      </p>
    </div>
  );
}

function LogPart({ id }: { id: string }) {
  const log = useApi("/v1/jobs/{job_id}/logs", { path: { job_id: id }, query: { limit: 200 } });
  if (log.error) return <ErrorNote error={log.error} />;
  if (log.data === undefined) return <Skeleton height="10rem" />;
  const text = log.data.items.map((chunk) => chunk.text).join("");
  if (text === "")
    return <Empty title="It printed nothing">What a job prints stands here, attempt by attempt.</Empty>;
  return (
    <div className={styles.stack}>
      <LongText label="Log" value={plainLog(text)} most={20_000} />
      {log.data.next_cursor && (
        <p className={styles.quiet}>This is the beginning; the job's own page has the whole log.</p>
      )}
    </div>
  );
}
