import { useState } from "react";
import type { Answer } from "~/api/call";
import { useAction, useApi } from "~/api/hooks";
import { useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button } from "~/components/Button";
import { Confirm } from "~/components/Dialog";
import { Select, TextField } from "~/components/Field";
import { ErrorNote, Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { useSearchState } from "~/lib/search";
import { plural, safeText } from "~/lib/text";
import { diffLines } from "./diff";
import type { Task } from "./figures";
import { ownerQuery } from "./links";
import styles from "./Tasks.module.css";

type Version = Answer<"/v1/tasks/{name}/versions", "get">["items"][number];

/** Every definition that a task ever had: who made it and why, what differs, and the way back. */
export function Versions({ task, mayWrite }: { task: Task; mayWrite: boolean }) {
  const { name } = task.definition;
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const list = useApi("/v1/tasks/{name}/versions", { path: { name }, query: { tenant }, every: 30 });
  const [back, setBack] = useState<Version>();
  const versions = list.data?.items ?? [];
  const [newest, second] = versions;
  const after = params.get("after") ?? String(newest?.version ?? "");
  const before = params.get("before") ?? String(second?.version ?? "");
  return (
    <div className={styles.stack}>
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      <Panel title="Versions" note={list.data && plural(versions.length, "version")} flush>
        <Table
          label="Versions"
          columns={columnsOf(mayWrite, setBack)}
          rows={list.data?.items}
          failed={list.error !== null}
          rowKey={(each) => String(each.version)}
          skeleton={3}
        />
      </Panel>
      {versions.length > 1 && (
        <Panel title="What differs">
          <div className={styles.stack}>
            <div className={styles.compare}>
              <VersionChoice
                label="From"
                versions={versions}
                value={before}
                onChange={(value) => change({ before: value })}
              />
              <VersionChoice
                label="To"
                versions={versions}
                value={after}
                onChange={(value) => change({ after: value })}
              />
            </div>
            <Difference name={name} before={before} after={after} />
          </div>
        </Panel>
      )}
      {back && <Rollback task={task} to={back} onClose={() => setBack(undefined)} />}
    </div>
  );
}

function columnsOf(mayWrite: boolean, onBack: (version: Version) => void): Column<Version>[] {
  const columns: (Column<Version> | false)[] = [
    { id: "version", head: "Version", align: "end", width: "5rem", cell: (each) => each.version },
    {
      id: "current",
      head: "",
      width: "6rem",
      cell: (each) => each.current && <Badge tone="good">in force</Badge>,
    },
    { id: "reason", head: "Reason", grow: true, cell: (each) => <Text value={each.reason ?? ""} /> },
    { id: "by", head: "By", width: "9rem", cell: (each) => <Text value={each.made_by} /> },
    { id: "made", head: "Made", width: "8rem", cell: (each) => <Time at={each.made_at} /> },
    mayWrite && {
      id: "deeds",
      head: "",
      align: "end",
      width: "8rem",
      cell: (each) =>
        !each.current && (
          <Button
            small
            icon="retry"
            aria-label={`Roll back to version ${each.version}`}
            onClick={() => onBack(each)}
          >
            Roll back…
          </Button>
        ),
    },
  ];
  return columns.filter((column) => column !== false);
}

interface VersionChoiceProps {
  label: string;
  versions: readonly Version[];
  value: string;
  onChange: (value: string) => void;
}

function VersionChoice({ label, versions, value, onChange }: VersionChoiceProps) {
  const choices = versions.map((each) => ({
    value: String(each.version),
    label: `version ${each.version}${each.current ? ", in force" : ""}`,
  }));
  return <Select label={label} choices={choices} value={value} onChange={onChange} />;
}

function Difference({ name, before, after }: { name: string; before: string; after: string }) {
  const tenant = useTenant();
  const asked = useApi("/v1/tasks/{name}/diff", {
    path: { name },
    query: { tenant, before, after },
    enabled: before !== "",
  });
  if (asked.error) return <ErrorNote error={asked.error} />;
  if (asked.data === undefined) return <Skeleton height="8rem" />;
  if (asked.data.text === "") return <Note>These two are the same.</Note>;
  return (
    <>
      <p className={styles.quiet}>Differs in {asked.data.fields.map(safeText).join(", ")}.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.diff} aria-label="Difference" tabIndex={0}>
        {diffLines(asked.data.text).map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text never move
          <span key={at} className={styles[line.kind]}>
            {safeText(line.text) || " "}
          </span>
        ))}
      </section>
    </>
  );
}

function Rollback({ task, to, onClose }: { task: Task; to: Version; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const rollback = useAction("post", "/v1/tasks/{name}/rollback", {
    toastErrors: false,
    done: (saved) => `Version ${saved.version} is in force, as version ${to.version} was`,
    onDone: onClose,
  });
  const run = () =>
    void rollback.run({
      path: { name: task.definition.name },
      query: ownerQuery(task),
      body: { version: to.version, reason },
    });
  return (
    <Confirm
      title={`Roll back to version ${to.version}`}
      open
      onClose={onClose}
      confirm={`Put version ${to.version} in force`}
      busy={rollback.running}
      onConfirm={run}
    >
      <div className={styles.stack}>
        <p className={styles.quiet}>
          Its definition becomes version {(task.version ?? 0) + 1} or later. Jobs that wait run it too; those
          that run are not touched.
        </p>
        {rollback.error && <ErrorNote error={rollback.error} />}
        <TextField
          label="Reason"
          value={reason}
          onChange={setReason}
          maxLength={500}
          placeholder="Why, for whoever looks later"
        />
      </div>
    </Confirm>
  );
}
