import { useMay } from "~/api/session";
import { Button } from "~/components/Button";
import { Page } from "~/components/Page";
import { Segments } from "~/components/Tabs";
import { useSearchState } from "~/lib/search";
import { Collisions } from "./Collisions";
import { Editor } from "./editor/Editor";
import { ScheduleCalendar } from "./ScheduleCalendar";
import { ScheduleList } from "./ScheduleList";

const VIEWS = [
  { value: "list", label: "List" },
  { value: "calendar", label: "Calendar" },
  { value: "collisions", label: "Collisions" },
] as const;

export default function Schedules() {
  const { params, change } = useSearchState();
  const mayWrite = useMay("schedules:write");
  const view = params.get("view") ?? "list";
  if (view === "new" && mayWrite) return <Editor />;
  return (
    <Page
      title="Schedules"
      about="Rules that make jobs: each tick makes exactly one."
      actions={
        <>
          <Segments
            label="View"
            choices={VIEWS}
            value={VIEWS.find((each) => each.value === view)?.value ?? "list"}
            onChange={(next) => change({ view: next === "list" ? null : next }, true)}
          />
          {mayWrite && (
            <Button kind="primary" icon="plus" onClick={() => change({ view: "new" }, true)}>
              New schedule
            </Button>
          )}
        </>
      }
    >
      {view === "calendar" ? <ScheduleCalendar /> : view === "collisions" ? <Collisions /> : <ScheduleList />}
    </Page>
  );
}
