import type { Job } from "~/api/types";
import { Command } from "~/components/Copy";
import { Panel } from "~/components/Page";
import { ENDED_STATES } from "~/components/StateBadge";
import { curl, shellWords } from "~/lib/shell";
import styles from "./Job.module.css";

/** What this page shows and does, for a terminal. */
export function Commands({ job }: { job: Job }) {
  const path = `/v1/jobs/${job.id}`;
  const over = ENDED_STATES.includes(job.state);
  const all: [string, string[], string][] = [
    ["Look at it", ["horae", "job", job.id], curl("GET", path)],
    ["Why it waits, or where its time went", ["horae", "explain", job.id], curl("GET", `${path}/explain`)],
    ["Its timeline", ["horae", "explain", job.id, "--timeline"], curl("GET", `${path}/timeline`)],
    [
      "Its log",
      ["horae", "logs", job.id, ...(over ? [] : ["--follow"])],
      curl("GET", `${path}/logs?${over ? "download" : "follow"}=true`),
    ],
    [
      "Its result",
      ["horae", "result", job.id, ...(over ? [] : ["--wait"])],
      curl("GET", `${path}/result${over ? "" : "?wait=30"}`),
    ],
    [
      "Submit the same",
      ["horae", "submit", job.task, "--json-params", JSON.stringify(job.params)],
      curl("POST", "/v1/jobs", {
        task: job.task,
        params: job.params,
        queue: job.queue,
        priority: job.priority,
      }),
    ],
    ["Submit a copy", ["horae", "clone", job.id], curl("POST", `${path}/clone`)],
  ];
  if (!over) all.push(["Cancel it", ["horae", "cancel", job.id], curl("DELETE", path)]);
  else all.push(["Run it again", ["horae", "retry", job.id], curl("POST", `${path}/retry`)]);
  return (
    <Panel>
      <p className={styles.quiet}>
        HORAE_URL and HORAE_KEY tell <code>horae</code> and curl where to and who; a local{" "}
        <code>horae up</code> is found without.
      </p>
      <dl className={styles.commands}>
        {all.map(([name, words, request]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Command text={shellWords(words)} label={`Copy the command: ${name}`} />
              <Command text={request} label={`Copy the curl command: ${name}`} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
