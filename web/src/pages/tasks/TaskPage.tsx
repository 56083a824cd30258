import { useState } from "react";
import { useParams } from "wouter";
import { useApi } from "~/api/hooks";
import { useMay, useSession, useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button, ButtonLink } from "~/components/Button";
import { Empty, ErrorNote } from "~/components/Note";
import { Page } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { Tabs } from "~/components/Tabs";
import { useSearchState } from "~/lib/search";
import { safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { DefinitionPart } from "./DefinitionPart";
import { DeleteTask } from "./DeleteTask";
import type { Task } from "./figures";
import { Overview } from "./Overview";
import { Sharing } from "./Sharing";
import { SubmitDrawer } from "./SubmitDrawer";
import { Versions } from "./Versions";

/** One task: how it does, what it is, its versions, who may use it; and to submit it by hand. */
export default function TaskPage() {
  const { name: encoded = "" } = useParams();
  const name = decodeURIComponent(encoded);
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const asked = useApi("/v1/tasks/{name}", { path: { name }, query: { tenant }, every: 30 });
  const mayWrite = useMayChange(asked.data);
  const maySubmit = useMay("jobs:submit");
  const [deleting, setDeleting] = useState(false);
  const href = useHref();
  const back = { href: href("/tasks"), label: "Tasks" };
  const task = asked.data;
  if (asked.error?.status === 404) return <Missing name={name} back={back} />;
  const isData = (task?.version ?? 0) > 0;
  return (
    <Page
      title={name}
      back={back}
      mark={
        task && (
          <>
            <Badge>{task.kind ?? "function"}</Badge>
            {isData && <Badge tone="accent">version {task.version}</Badge>}
          </>
        )
      }
      about={task && safeText(task.definition.description ?? "")}
      actions={
        task && (
          <>
            {mayWrite && isData && (
              <Button icon="trash" kind="quiet" onClick={() => setDeleting(true)}>
                Delete…
              </Button>
            )}
            {maySubmit && (
              <Button kind="primary" icon="play" onClick={() => change({ submit: "yes" })}>
                Submit…
              </Button>
            )}
          </>
        )
      }
    >
      {asked.error && <ErrorNote error={asked.error} retry={() => void asked.refetch()} />}
      {task ? <TaskTabs task={task} mayWrite={mayWrite} /> : !asked.error && <Skeleton height="20rem" />}
      {task && maySubmit && params.get("submit") && (
        <SubmitDrawer task={task} onClose={() => change({ submit: null })} />
      )}
      {task && deleting && <DeleteTask task={task} onClose={() => setDeleting(false)} />}
    </Page>
  );
}

function TaskTabs({ task, mayWrite }: { task: Task; mayWrite: boolean }) {
  const { params, change } = useSearchState();
  const isData = (task.version ?? 0) > 0;
  const tabs = [
    { id: "overview", label: "Overview" },
    { id: "definition", label: "Definition" },
    ...(isData
      ? [
          { id: "versions", label: "Versions" },
          { id: "sharing", label: "Sharing" },
        ]
      : []),
  ];
  const current = tabs.find((tab) => tab.id === params.get("tab"))?.id ?? "overview";
  return (
    <Tabs
      label="About this task"
      tabs={tabs}
      current={current}
      onChange={(tab) => change({ tab: tab === "overview" ? null : tab })}
    >
      {current === "overview" && <Overview name={task.definition.name} />}
      {current === "definition" && <DefinitionPart definition={task.definition} />}
      {current === "versions" && <Versions task={task} mayWrite={mayWrite} />}
      {current === "sharing" && <Sharing task={task} mayWrite={mayWrite} />}
    </Tabs>
  );
}

/** A tenant's key may change its own tasks; one of no tenant all of them. */
function useMayChange(task: Task | undefined): boolean {
  const own = useSession()?.tenant;
  const mayWrite = useMay("tasks:write");
  return mayWrite && task !== undefined && (own == null || task.tenant === own);
}

function Missing({ name, back }: { name: string; back: { href: string; label: string } }) {
  return (
    <Page title={name} back={back}>
      <Empty
        title="There is no such task"
        icon="tasks"
        action={<ButtonLink href={back.href}>All tasks</ButtonLink>}
      >
        It may be another tenant's, or deleted: <code>horae task rollback</code> brings a deleted one back.
      </Empty>
    </Page>
  );
}
