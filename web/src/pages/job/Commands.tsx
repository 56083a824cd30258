import type { Job } from "~/api/types";
import { Command } from "~/components/Copy";
import { Panel } from "~/components/Page";
import { ENDED_STATES } from "~/components/StateBadge";
import { curl, shellWords } from "~/lib/shell";
import { inexactIn } from "~/params/exact";
import { submitWords } from "../tasks/submit";
import styles from "./Job.module.css";

type Told = [name: string, words: string[], request: string];

/** What this page shows and does, for a terminal. */
export function Commands({ job }: { job: Job }) {
  const path = `/v1/jobs/${job.id}`;
  const over = ENDED_STATES.includes(job.state);
  const all: Told[] = [
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
    ["Submit a copy", ["horae", "clone", job.id], curl("POST", `${path}/clone`)],
  ];
  if (inexactIn(job.params) === undefined) all.push(submitAgain(job));
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

function submitAgain({ task, params, queue, priority, tenant }: Job): Told {
  const same = { task, params: params as Record<string, unknown>, queue, priority, tenant };
  return ["Submit the same", submitWords(same), curl("POST", "/v1/jobs", same)];
}
