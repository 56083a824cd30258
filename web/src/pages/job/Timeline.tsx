import { useState } from "react";
import { useApi } from "~/api/hooks";
import type { Job, Schemas } from "~/api/types";
import { Button } from "~/components/Button";
import { ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { ENDED_STATES, StateBadge } from "~/components/StateBadge";
import { Text } from "~/components/Text";
import { Duration, Time } from "~/components/Time";
import { classes } from "~/lib/classes";
import { plural } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import styles from "./Job.module.css";

type Stretch = Schemas["Stretch"];

const WORDS: Record<Stretch["what"], string> = {
  waiting_for_due: "waited for its time",
  held_by_gate: "held by a gate",
  waiting_for_limit: "waited for a limit",
  retry_waits: "paused before trying again",
  behind_others: "waited behind others",
  waiting_for_worker: "waited for a worker",
  running: "ran",
};

const SHOWN = 40;

/** A job's life from its submit on: what its time went into, and why. */
export function Timeline({ job }: { job: Job }) {
  const over = ENDED_STATES.includes(job.state);
  const told = useApi("/v1/jobs/{job_id}/timeline", { path: { job_id: job.id }, live: over ? false : 3 });
  const items = told.data?.items ?? [];
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(-SHOWN);
  const left = items.length - shown.length;
  return (
    <Panel title="Timeline">
      {told.error && <ErrorNote error={told.error} />}
      {told.data === undefined ? (
        <Skeleton height="8rem" />
      ) : (
        <>
          <Bar items={shown} now={told.data.at} />
          <ol className={styles.timeline}>
            <li>
              <Time at={job.created_at} show="exact" />
              <span>
                submitted
                {job.user && (
                  <>
                    {" "}
                    by <Text value={job.user} />
                  </>
                )}
              </span>
            </li>
            {left > 0 && (
              <li>
                <span />
                <Button small kind="quiet" onClick={() => setAll(true)}>
                  Show the {plural(left, "stretch", "stretches")} before
                </Button>
              </li>
            )}
            {shown.map((item) => (
              <Step key={`${item.since}${item.what}`} item={item} />
            ))}
            {over && (
              <li>
                <Time at={job.finished_at} show="exact" />
                <span>
                  <StateBadge state={job.state} quiet />
                </span>
              </li>
            )}
          </ol>
        </>
      )}
    </Panel>
  );
}

function lengthOf(item: Stretch, now: string): number {
  return Math.max(0, (Date.parse(item.until ?? now) - Date.parse(item.since)) / 1000);
}

/** Proportions at a glance; what took hardly any time still has a hair's breadth. */
function Bar({ items, now }: { items: Stretch[]; now: string }) {
  const whole = items.reduce((sum, item) => sum + lengthOf(item, now), 0) || 1;
  return (
    <div className={styles.bar} aria-hidden="true">
      {items.map((item) => (
        <span
          key={`${item.since}${item.what}`}
          className={classes(styles.part, styles[item.what])}
          style={{ flexGrow: (1000 * lengthOf(item, now)) / whole }}
          title={`${WORDS[item.what]} ${formatDuration(lengthOf(item, now))}`}
        />
      ))}
    </div>
  );
}

function Step({ item }: { item: Stretch }) {
  return (
    <li>
      <Time at={item.since} show="exact" />
      <span className={styles.step}>
        <span className={classes(styles.dot, styles[item.what])} aria-hidden="true" />
        <span>
          {item.until ? WORDS[item.what] : present(item)}
          {item.attempt ? ` (attempt ${item.attempt})` : ""} for{" "}
          <Duration since={item.since} until={item.until} />
          {item.detail && (
            <span className={styles.quiet}>
              {" "}
              <Text value={item.detail} />
            </span>
          )}
        </span>
      </span>
    </li>
  );
}

function present({ what }: Stretch): string {
  const words = WORDS[what];
  if (what === "running") return "has been running";
  if (what === "retry_waits") return "pauses before trying again";
  return words.startsWith("waited") ? words.replace("waited", "waits") : `is ${words}`;
}
