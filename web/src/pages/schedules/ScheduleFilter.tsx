import { useApi } from "~/api/hooks";
import { useMay, useTenant } from "~/api/session";
import { SearchField, Select, Toolbar } from "~/components/Field";
import { useSearchState } from "~/lib/search";
import { safeText } from "~/lib/text";
import { useDraft } from "~/lib/typing";
import styles from "./filter.module.css";

/** By text, state and task; it holds for the list and for the calendar. */
export function ScheduleFilter() {
  const { params, change } = useSearchState();
  const tasks =
    useApi("/v1/tasks", { query: { tenant: useTenant() }, enabled: useMay("tasks:read") }).data?.items ?? [];
  const names = [...new Set(tasks.map((task) => task.definition.name))].sort();
  const task = params.get("task") ?? "";
  const [text, type] = useDraft(params.get("text") ?? "", (next) => change({ text: next }));
  if (task !== "" && !names.includes(task)) names.unshift(task);
  return (
    <Toolbar label="Filter schedules">
      <div className={styles.text}>
        <SearchField label="Find schedules" placeholder="Name or task" value={text} onChange={type} />
      </div>
      <Select
        label="State"
        bare
        value={params.get("state") ?? ""}
        onChange={(state) => change({ state })}
        choices={[
          { value: "", label: "Any state" },
          { value: "active", label: "Active" },
          { value: "paused", label: "Paused" },
          { value: "ended", label: "Ended" },
        ]}
      />
      <Select
        label="Task"
        bare
        value={task}
        onChange={(next) => change({ task: next })}
        choices={[
          { value: "", label: "Any task" },
          ...names.map((name) => ({ value: name, label: safeText(name) })),
        ]}
      />
    </Toolbar>
  );
}
