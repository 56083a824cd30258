import { useState } from "react";
import type { Answer } from "~/api/call";
import { useAction, useApi } from "~/api/hooks";
import { useMay, useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button } from "~/components/Button";
import { Dialog } from "~/components/Dialog";
import { Checkbox, Fields, TextField } from "~/components/Field";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { safeText } from "~/lib/text";
import type { Task } from "./figures";
import { ownerQuery } from "./links";
import styles from "./Tasks.module.css";

type Share = Answer<"/v1/tasks/{name}/shares", "get">["items"][number];

/** Which other tenants may use a task, and with whose secrets. */
export function Sharing({ task, mayWrite }: { task: Task; mayWrite: boolean }) {
  const { name } = task.definition;
  const tenant = useTenant();
  const [adding, setAdding] = useState(false);
  const list = useApi("/v1/tasks/{name}/shares", {
    path: { name },
    query: { tenant },
    enabled: task.tenant != null,
  });
  const unshare = useAction("post", "/v1/tasks/{name}/unshare", { done: "Taken back" });
  if (task.tenant == null) return <Note>Every tenant may use this task: it belongs to no tenant.</Note>;
  const takeBack = (share: Share) =>
    void unshare.run({
      path: { name },
      query: ownerQuery(task),
      body: { tenants: (share.tenant === "*" ? "*" : [share.tenant]) as never },
    });
  return (
    <Panel
      title="Shared with"
      flush
      actions={
        mayWrite && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Share…
          </Button>
        )
      }
    >
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      <Table
        label="Shares"
        columns={columnsOf(mayWrite, takeBack)}
        rows={list.data?.items}
        failed={list.error !== null}
        rowKey={(share) => share.tenant}
        skeleton={2}
        empty={
          <Empty title="Only its own tenant may use it">
            Jobs of others would be theirs: in their lanes and limits.
          </Empty>
        }
      />
      {adding && <ShareDialog task={task} onClose={() => setAdding(false)} />}
    </Panel>
  );
}

function columnsOf(mayWrite: boolean, takeBack: (share: Share) => void): Column<Share>[] {
  const columns: (Column<Share> | false)[] = [
    {
      id: "tenant",
      head: "Tenant",
      grow: true,
      cell: (share) => (share.tenant === "*" ? "every tenant" : <Text value={share.tenant} />),
    },
    {
      id: "secrets",
      head: "Secrets",
      width: "10rem",
      cell: (share) => (share.with_secrets ? <Badge tone="warn">with the owner's</Badge> : "none"),
    },
    { id: "by", head: "By", width: "9rem", wide: true, cell: (share) => <Text value={share.made_by} /> },
    { id: "made", head: "Since", width: "8rem", cell: (share) => <Time at={share.made_at} /> },
    mayWrite && {
      id: "deeds",
      head: "",
      align: "end",
      width: "7rem",
      cell: (share) => (
        <Button small aria-label={`Take back from ${safeText(share.tenant)}`} onClick={() => takeBack(share)}>
          Take back
        </Button>
      ),
    },
  ];
  return columns.filter((column) => column !== false);
}

function ShareDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const [everybody, setEverybody] = useState(false);
  const [names, setNames] = useState("");
  const [withSecrets, setWithSecrets] = useState(false);
  const mayGiveSecrets = useMay("secrets:write");
  const share = useAction("post", "/v1/tasks/{name}/share", {
    done: "Shared",
    toastErrors: false,
    onDone: onClose,
  });
  const listed = names
    .split(/[\s,]+/)
    .map((each) => each.trim())
    .filter(Boolean);
  const run = () =>
    void share.run({
      path: { name: task.definition.name },
      query: ownerQuery(task),
      body: { tenants: (everybody ? "*" : listed) as never, with_secrets: withSecrets },
    });
  return (
    <Dialog
      title={`Share ${safeText(task.definition.name)}`}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            kind="primary"
            busy={share.running}
            disabled={!everybody && listed.length === 0}
            onClick={run}
          >
            Share
          </Button>
        </>
      }
    >
      {share.error && <ErrorNote error={share.error} />}
      <Fields>
        <TextField
          label="Tenants"
          value={names}
          disabled={everybody}
          onChange={setNames}
          placeholder="guest, partner"
          hint="Names, separated by commas"
        />
        <Checkbox label="Every tenant" checked={everybody} onChange={setEverybody} />
        {mayGiveSecrets && (
          <Checkbox
            label="With the secrets of this tenant"
            hint="Their jobs of this task then get them. Without, a task that asks for secrets fails with them."
            checked={withSecrets}
            onChange={setWithSecrets}
          />
        )}
      </Fields>
      <p className={styles.quiet}>
        Their jobs are theirs: they run in their lanes and count in their limits.
      </p>
    </Dialog>
  );
}
