import { type ReactNode, useState } from "react";
import { useApi } from "~/api/hooks";
import { useTenant } from "~/api/session";
import type { State } from "~/api/types";
import { Button } from "~/components/Button";
import { SearchField, TextField, Toolbar } from "~/components/Field";
import { STATES, StateGlyph } from "~/components/StateBadge";
import { classes } from "~/lib/classes";
import { useSearchState } from "~/lib/search";
import { safeText } from "~/lib/text";
import { useDraft } from "~/lib/typing";
import { filterFaults, type JobFilter, splitLabels } from "./filter";
import styles from "./Jobs.module.css";

/** `tools` stand at the end of the row where there is room. */
export function FilterBar({ filter, tools }: { filter: JobFilter; tools: ReactNode }) {
  const { change } = useSearchState();
  const faults = filterFaults(filter);
  const more = [filter.user, filter.worker, filter.since, filter.until, filter.cause, ...filter.labels];
  const [open, setOpen] = useState(more.some((part) => part !== ""));
  const { status: noState, ...hidden } = faults;
  const faulty = Object.keys(hidden).length > 0;
  const shown = open || faulty;
  const tenant = useTenant();
  const tasks = useApi("/v1/tasks", { query: { tenant }, every: 60 }).data?.items ?? [];
  const queues = useApi("/v1/queues", { query: { tenant }, every: 60 }).data?.items ?? [];
  const [text, typeText] = useDraft(filter.text, (next) => change({ text: next, cursor: null }));
  const set = (name: string) => (value: string) => change({ [name]: value, cursor: null });
  return (
    <div className={styles.filters}>
      <States chosen={filter.states} fault={noState} />
      <Toolbar label="Filter jobs">
        <div className={styles.search}>
          <SearchField
            label="Search text"
            placeholder="Text in id, params, labels, error"
            value={text}
            onChange={typeText}
          />
        </div>
        <TypedField
          label="Task"
          value={filter.task}
          onChange={set("task")}
          options={tasks.map((task) => task.definition.name)}
        />
        <TypedField
          label="Queue"
          value={filter.queue}
          onChange={set("queue")}
          options={unique(queues.map((queue) => queue.queue))}
        />
        <Button
          icon="filter"
          kind="quiet"
          aria-expanded={shown}
          disabled={faulty}
          onClick={() => setOpen(!shown)}
        >
          {shown ? "Fewer filters" : "More filters"}
        </Button>
        {tools}
      </Toolbar>
      {shown && (
        <Toolbar label="More filters">
          <TypedField
            label="Label"
            value={filter.labels.join(" ")}
            placeholder="name:value"
            title="Several with a space between: team:mowers place:far meadow"
            error={faults.label}
            onChange={(words) => change({ label: splitLabels(words), cursor: null })}
          />
          <TypedField
            label="Worker"
            value={filter.worker}
            placeholder="id"
            error={faults.worker}
            onChange={set("worker")}
          />
          <TypedField label="Submitted by" value={filter.user} placeholder="a key" onChange={set("user")} />
          <TypedField
            label="Made since"
            value={filter.since}
            placeholder="2h"
            error={faults.since}
            onChange={set("since")}
            options={["15m", "1h", "24h", "7d"]}
          />
          <TypedField
            label="Made before"
            value={filter.until}
            placeholder="1h"
            error={faults.until}
            onChange={set("until")}
          />
        </Toolbar>
      )}
    </div>
  );
}

function unique(names: string[]): string[] {
  return [...new Set(names)].sort();
}

function States({ chosen, fault }: { chosen: State[]; fault: string | undefined }) {
  const { change } = useSearchState();
  const toggle = (state: State) => {
    const next = chosen.includes(state) ? chosen.filter((each) => each !== state) : [...chosen, state];
    change({ status: next.join(","), cursor: null });
  };
  const all = chosen.length === 0 && fault === undefined;
  return (
    <fieldset className={styles.states} aria-label="States">
      <button
        type="button"
        className={classes(styles.state, all && styles.on)}
        aria-pressed={all}
        onClick={() => change({ status: null, cursor: null })}
      >
        all
      </button>
      {STATES.map((state) => (
        <button
          key={state}
          type="button"
          className={classes(styles.state, chosen.includes(state) && styles.on)}
          aria-pressed={chosen.includes(state)}
          onClick={() => toggle(state)}
        >
          <StateGlyph state={state} />
          {state}
        </button>
      ))}
      {fault && <span className={styles.fault}>{safeText(fault)}</span>}
    </fieldset>
  );
}

interface TypedFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  title?: string;
  options?: readonly string[];
  error?: string;
}

function TypedField({ value, onChange, placeholder, label, ...rest }: TypedFieldProps) {
  const [text, type] = useDraft(value, onChange);
  return (
    <div className={styles.word}>
      <TextField
        bare
        label={label}
        placeholder={placeholder ? `${label}: ${placeholder}` : label}
        value={text}
        onChange={type}
        {...rest}
      />
    </div>
  );
}
