import { useRef, useState } from "react";
import { address } from "~/api/call";
import type { Job } from "~/api/types";
import { Button, IconButton } from "~/components/Button";
import { SearchField, Select, Toolbar } from "~/components/Field";
import { Icon } from "~/components/Icon";
import { Empty, ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { formatCount, plural } from "~/lib/text";
import styles from "./Log.module.css";
import { LogView, type LogViewHandle } from "./LogView";
import { useLog } from "./useLog";
import { useMatches } from "./useMatches";

/** What the job wrote: live, searched, followed, by attempt, to be downloaded. */
export function Log({ job }: { job: Job }) {
  const log = useLog(job.id, job.attempt ?? 0);
  const [attempt, setAttempt] = useState<number>();
  const [needle, setNeedle] = useState("");
  const [follow, setFollow] = useState(true);
  const view = useRef<LogViewHandle>(null);
  const [from, until] = log.lines.range(attempt);
  const matches = useMatches(log, needle, attempt);
  const show = (step: 1 | -1) => {
    setFollow(false);
    const at = matches.go(step);
    if (at !== undefined) view.current?.reveal(at);
  };
  const empty = until === from;
  return (
    <Panel flush>
      <div className={styles.head}>
        <Toolbar label="Log">
          {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter in the field below goes to the next match */}
          <div
            className={styles.search}
            onKeyDown={(event) => event.key === "Enter" && show(event.shiftKey ? -1 : 1)}
          >
            <SearchField label="Search the log" value={needle} onChange={setNeedle} />
          </div>
          <span className={styles.matches} aria-live="polite">
            {needle &&
              (matches.count === 0
                ? "no match"
                : `${formatCount(matches.at + 1)} of ${formatCount(matches.count)}`)}
          </span>
          <IconButton
            small
            label="Previous match"
            icon="up"
            disabled={matches.count === 0}
            onClick={() => show(-1)}
          />
          <IconButton
            small
            label="Next match"
            icon="down"
            disabled={matches.count === 0}
            onClick={() => show(1)}
          />
          {log.lines.starts.length > 1 && (
            <Select
              bare
              label="Attempt"
              value={attempt === undefined ? "" : String(attempt)}
              onChange={(value) => setAttempt(value === "" ? undefined : Number(value))}
              choices={[
                { value: "", label: "All attempts" },
                ...log.lines.starts.map((start) => ({
                  value: String(start.attempt),
                  label: `Attempt ${start.attempt}`,
                })),
              ]}
            />
          )}
          <span className={styles.status}>
            <Status phase={log.phase} lost={log.connection === "lost"} count={until - from} />
          </span>
          {log.phase !== "ended" && (
            <Button
              small
              aria-pressed={follow}
              icon={follow ? "check" : "down"}
              onClick={() => setFollow(!follow)}
            >
              Follow
            </Button>
          )}
          <a
            className={styles.download}
            href={address("/v1/jobs/{job_id}/logs", { job_id: job.id }, { download: true, attempt })}
            download={`${job.id}.log`}
          >
            <Icon name="download" size={14} /> Download
          </a>
        </Toolbar>
      </div>
      {log.error !== null && <ErrorNote error={log.error} />}
      {empty ? (
        <NothingYet phase={log.phase} job={job} />
      ) : (
        <LogView
          ref={view}
          lines={log.lines}
          version={log.version}
          from={from}
          until={until}
          needle={needle}
          current={matches.line}
          follow={follow}
          onFollow={setFollow}
        />
      )}
    </Panel>
  );
}

function Status({ phase, lost, count }: { phase: string; lost: boolean; count: number }) {
  const words =
    phase === "loading"
      ? "loading…"
      : lost && phase === "following"
        ? "reconnecting…"
        : phase === "following"
          ? "live"
          : "";
  return (
    <>
      {plural(count, "line")} {words && `· ${words}`}
    </>
  );
}

function NothingYet({ phase, job }: { phase: string; job: Job }) {
  if (phase === "loading") return <div className={styles.empty}>Loading…</div>;
  if (phase === "ended") return <Empty title="It wrote nothing" icon="jobs" />;
  const waiting = (job.attempt ?? 0) === 0;
  return (
    <Empty title={waiting ? "It has not started yet" : "Nothing written yet"} icon="clock">
      What it writes to stdout and stderr appears here at once.
    </Empty>
  );
}
