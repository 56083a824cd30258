import { useState } from "react";
import { useParams } from "wouter";
import { useApi } from "~/api/hooks";
import { useMay, useTenant } from "~/api/session";
import { Button, ButtonLink } from "~/components/Button";
import { Menu } from "~/components/Menu";
import { Empty, ErrorNote } from "~/components/Note";
import { Grid, Page } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { Tabs } from "~/components/Tabs";
import { useSearchState } from "~/lib/search";
import { safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { Backfills } from "./Backfills";
import { type Deed, DeedDialog } from "./deeds";
import { Editor } from "./editor/Editor";
import { History } from "./History";
import { LatePanel } from "./LatePanel";
import { ScheduleState } from "./Marks";
import { NextTicks } from "./NextTicks";
import { PastTicks } from "./PastTicks";
import { RulePanel } from "./RulePanel";
import { Source } from "./Source";
import { TickCalendar } from "./TickCalendar";
import type { Schedule } from "./types";

const TABS = [
  { id: "next", label: "Next ticks" },
  { id: "past", label: "Past ticks" },
  { id: "calendar", label: "Calendar" },
  { id: "backfills", label: "Backfills" },
  { id: "history", label: "History" },
  { id: "source", label: "Definition" },
];

export default function SchedulePage() {
  // A slash in a name stays escaped in the address, and in what the router makes of it.
  const name = decodeURIComponent(useParams<{ name: string }>().name);
  const { params } = useSearchState();
  const mayWrite = useMay("schedules:write");
  const href = useHref();
  const found = useApi("/v1/schedules/{name}", {
    path: { name },
    query: { tenant: useTenant() },
    live: 2,
    every: 30,
    keep: false,
  });
  if (found.data && params.has("edit") && mayWrite) return <Editor key={name} schedule={found.data} />;
  if (found.data) return <Shown schedule={found.data} />;
  return (
    <Page title={name} back={{ href: href("/schedules"), label: "Schedules" }}>
      {found.error === null ? (
        <Skeleton height="12rem" />
      ) : found.error.code === "not_found" ? (
        <Empty title="There is no schedule of this name" icon="schedules">
          It may have been deleted: `horae schedule history {safeText(name)}` tells by whom and why.
        </Empty>
      ) : (
        <ErrorNote error={found.error} retry={() => void found.refetch()} />
      )}
    </Page>
  );
}

function Shown({ schedule }: { schedule: Schedule }) {
  const { params, change } = useSearchState();
  const href = useHref();
  const tab = TABS.find((each) => each.id === params.get("tab"))?.id ?? "next";
  return (
    <Page
      title={schedule.definition.name}
      mark={<ScheduleState state={schedule.state} />}
      about={schedule.definition.description ? safeText(schedule.definition.description) : undefined}
      back={{ href: href("/schedules"), label: "Schedules" }}
      actions={<Actions schedule={schedule} />}
    >
      <Grid least="24rem">
        <RulePanel schedule={schedule} />
        <LatePanel schedule={schedule} />
      </Grid>
      <Tabs
        label="Parts of the schedule"
        tabs={TABS}
        current={tab}
        onChange={(id) => change({ tab: id, month: null })}
      >
        <Part tab={tab} schedule={schedule} />
      </Tabs>
    </Page>
  );
}

function Part({ tab, schedule }: { tab: string; schedule: Schedule }) {
  switch (tab) {
    case "past":
      return <PastTicks schedule={schedule} />;
    case "calendar":
      return <TickCalendar schedule={schedule} />;
    case "backfills":
      return <Backfills schedule={schedule} />;
    case "history":
      return <History schedule={schedule} />;
    case "source":
      return <Source schedule={schedule} />;
    default:
      return <NextTicks schedule={schedule} />;
  }
}

function Actions({ schedule }: { schedule: Schedule }) {
  const [deed, setDeed] = useState<Deed | null>(null);
  const { change } = useSearchState();
  const mayWrite = useMay("schedules:write");
  const jobs = useHref()("/jobs", {
    label: `schedule:${schedule.definition.name}`,
    tenant: schedule.tenant,
  });
  const paused = schedule.state === "paused";
  return (
    <>
      <ButtonLink href={jobs} icon="jobs">
        Its jobs
      </ButtonLink>
      {mayWrite && (
        <>
          <Button icon={paused ? "play" : "pause"} onClick={() => setDeed(paused ? "resume" : "pause")}>
            {paused ? "Resume" : "Pause"}
          </Button>
          <Button icon="edit" onClick={() => change({ edit: "1" }, true)}>
            Edit
          </Button>
          <Button kind="primary" icon="play" onClick={() => setDeed("trigger")}>
            Run now
          </Button>
          <Menu
            label="More"
            icon="more"
            bare
            items={[{ label: "Delete", icon: "trash", danger: true, onSelect: () => setDeed("delete") }]}
          />
          <DeedDialog deed={deed} schedule={schedule} onClose={() => setDeed(null)} />
        </>
      )}
    </>
  );
}
