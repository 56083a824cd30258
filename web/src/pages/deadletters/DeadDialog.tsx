import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Answer, call } from "~/api/call";
import type { ApiError } from "~/api/error";
import { useAction } from "~/api/hooks";
import { Command } from "~/components/Copy";
import { Confirm } from "~/components/Dialog";
import { Fields, Select, TextField } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { Skeleton } from "~/components/Skeleton";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { shellWords } from "~/lib/shell";
import { formatCount, plural } from "~/lib/text";
import { formatDuration } from "~/lib/time";
import { type Filter, secondsAtRate } from "./cause";
import styles from "./DeadLetters.module.css";

export type Deed = "redrive" | "discard";
type Previewed = Answer<"/v1/dead-letters/redrive", "post">;

const USUAL_RATE = 100;
const PRIORITIES = ["", ...Array.from({ length: 10 }, (_, at) => String(at + 1))];

interface DeadDialogProps {
  deed: Deed;
  filter: Filter;
  onClose: () => void;
  onMade: (action: string) => void;
}

/** Runs dead letters again or takes them out: says first how many, and shows some of them. */
export function DeadDialog({ deed, filter, onClose, onMade }: DeadDialogProps) {
  const [rate, setRate] = useState("");
  const [priority, setPriority] = useState("");
  const [reason, setReason] = useState("");
  const preview = usePreview(deed, filter);
  const redrive = useAction("post", "/v1/dead-letters/redrive", { toastErrors: false });
  const discard = useAction("post", "/v1/dead-letters/discard", { toastErrors: false });
  const wrongRate = rate !== "" && !(Number(rate) > 0) ? "A number of jobs a second, such as 50" : undefined;
  const count = preview.data?.total ?? 0;
  const verb = deed === "redrive" ? "Redrive" : "Discard";
  const run = async () => {
    const common = { filter, reason };
    const made =
      deed === "redrive"
        ? await redrive.run({
            body: {
              ...common,
              rate: rate === "" ? undefined : Number(rate),
              changes: priority === "" ? undefined : { priority: Number(priority) },
            },
          })
        : await discard.run({ body: common });
    if (made?.id) {
      onMade(made.id);
      onClose();
    }
  };
  const error = redrive.error ?? discard.error ?? preview.error;
  return (
    <Confirm
      title={`${verb} dead letters`}
      open
      onClose={onClose}
      confirm={preview.data ? `${verb} ${preview.data.more ? "at least " : ""}${plural(count, "job")}` : verb}
      danger={deed === "discard"}
      busy={redrive.running || discard.running}
      disabled={count === 0 || wrongRate !== undefined}
      onConfirm={() => void run()}
    >
      <div className={styles.stack}>
        <p className={styles.quiet}>
          {deed === "redrive"
            ? "They run again as the same jobs, with all their attempts before them, each at an instant of its own so that what could not bear the load is not run over again."
            : "They stay failed and leave this list. For an hour it can be undone."}
        </p>
        <Fields columns={2}>
          {deed === "redrive" && (
            <>
              <TextField
                label="Jobs a second"
                inputMode="decimal"
                value={rate}
                onChange={setRate}
                placeholder={String(USUAL_RATE)}
                error={wrongRate}
                hint={durationHint(count, rate)}
              />
              <Select
                label="Priority"
                choices={PRIORITIES.map((value) => ({ value, label: value || "as they have" }))}
                value={priority}
                onChange={setPriority}
              />
            </>
          )}
          <TextField
            label="Reason"
            value={reason}
            onChange={setReason}
            maxLength={500}
            placeholder="Why, for whoever looks later"
          />
        </Fields>
        {error && <ErrorNote error={error} />}
        <Sample preview={preview.data} />
        <Command text={commandOf(deed, filter, { rate, priority, reason })} />
      </div>
    </Confirm>
  );
}

function durationHint(count: number, rate: string): string | undefined {
  const seconds = secondsAtRate(count, rate === "" ? USUAL_RATE : Number(rate));
  return seconds === undefined || count === 0
    ? undefined
    : `Takes about ${formatDuration(Math.max(1, seconds))}.`;
}

function usePreview(deed: Deed, filter: Filter) {
  return useQuery<Previewed, ApiError>({
    queryKey: ["/v1/dead-letters", "preview", deed, filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      call("post", `/v1/dead-letters/${deed}`, { body: { filter, preview: true }, signal }),
  });
}

function Sample({ preview }: { preview: Previewed | undefined }) {
  if (preview === undefined) return <Skeleton height="5rem" />;
  if (!preview.total) return <Note>No dead letter fits any more.</Note>;
  return (
    <section aria-label="Preview" className={styles.stack}>
      <strong>
        {preview.more ? "At least " : ""}
        {formatCount(preview.total)} {preview.total === 1 ? "job" : "jobs"}; the newest:
      </strong>
      <ul className={styles.sample}>
        {preview.sample?.slice(0, 5).map((job) => (
          <li key={job.id}>
            <Text value={job.task} />
            <code>{job.id}</code>
            <Time at={job.finished_at} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Said {
  rate: string;
  priority: string;
  reason: string;
}

function commandOf(deed: Deed, { cause, ids, tenant, task, since }: Filter, said: Said): string {
  const { rate, priority, reason } = said;
  const where = Object.entries({ tenant, task, since }).flatMap(([name, value]) =>
    value ? ["--where", `${name}=${value}`] : [],
  );
  const which = [...(cause ? [cause] : []), ...(ids ?? []).flatMap((id) => ["--job", id])];
  const all = which.length === 0 && !task && !since ? ["--every"] : [];
  return shellWords([
    "horae",
    "dead",
    deed,
    ...which,
    ...where,
    ...all,
    ...(deed === "redrive" && rate ? ["--rate", rate] : []),
    ...(deed === "redrive" && priority ? ["--priority", priority] : []),
    ...(reason ? ["--reason", reason] : []),
  ]);
}
