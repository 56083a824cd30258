import { useEffect, useState } from "react";
import { useApi } from "~/api/hooks";
import { useTenant } from "~/api/session";
import type { State } from "~/api/types";
import { Button } from "~/components/Button";
import { SearchField, TextField, Toolbar } from "~/components/Field";
import { STATES, StateGlyph } from "~/components/StateBadge";
import { classes } from "~/lib/classes";
import { useSearchState } from "~/lib/search";
import type { JobFilter } from "./filter";
import styles from "./Jobs.module.css";

const TYPING_PAUSE = 300;

export function FilterBar({ filter }: { filter: JobFilter }) {
  const { change } = useSearchState();
  const more = [filter.user, filter.worker, filter.since, filter.until, filter.cause, ...filter.labels];
  const [open, setOpen] = useState(more.some((part) => part !== ""));
  const tenant = useTenant();
  const tasks = useApi("/v1/tasks", { query: { tenant }, every: 60 }).data?.items ?? [];
  const queues = useApi("/v1/queues", { query: { tenant }, every: 60 }).data?.items ?? [];
  const set = (name: string) => (value: string) => change({ [name]: value, cursor: null });
  return (
    <div className={styles.filters}>
      <States chosen={filter.states} />
      <Toolbar label="Filter jobs">
        <Typed value={filter.text} onChange={set("text")}>
          {(value, type) => (
            <SearchField
              label="Search text"
              placeholder="Text in id, params, labels, error"
              value={value}
              onChange={type}
            />
          )}
        </Typed>
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
        <Button icon="filter" kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Fewer filters" : "More filters"}
        </Button>
      </Toolbar>
      {open && (
        <Toolbar label="More filters">
          <TypedField
            label="Label"
            value={filter.labels.join(" ")}
            placeholder="name:value"
            onChange={(text) => change({ label: text.split(/\s+/), cursor: null })}
          />
          <TypedField label="Worker" value={filter.worker} placeholder="id" onChange={set("worker")} />
          <TypedField
            label="Submitted by"
            value={filter.user}
            placeholder="name of a key"
            onChange={set("user")}
          />
          <TypedField
            label="Made since"
            value={filter.since}
            placeholder="2h or an instant"
            onChange={set("since")}
            options={["15m", "1h", "24h", "7d"]}
          />
          <TypedField
            label="Made before"
            value={filter.until}
            placeholder="1h or an instant"
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

function States({ chosen }: { chosen: State[] }) {
  const { change } = useSearchState();
  const toggle = (state: State) => {
    const next = chosen.includes(state) ? chosen.filter((each) => each !== state) : [...chosen, state];
    change({ status: next.join(","), cursor: null });
  };
  return (
    <fieldset className={styles.states} aria-label="States">
      <button
        type="button"
        className={classes(styles.state, chosen.length === 0 && styles.on)}
        aria-pressed={chosen.length === 0}
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
    </fieldset>
  );
}

interface TypedFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  options?: readonly string[];
}

function TypedField({ label, value, onChange, placeholder, options }: TypedFieldProps) {
  return (
    <Typed value={value} onChange={onChange}>
      {(text, type) => (
        <TextField
          bare
          label={label}
          placeholder={placeholder ? `${label}: ${placeholder}` : label}
          options={options}
          value={text}
          onChange={type}
        />
      )}
    </Typed>
  );
}

/** What is typed is in the field at once, and in the address after a pause. */
function Typed({ value, onChange, children }: TypedProps) {
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  if (value !== sent) {
    // The address was changed by something else: a saved view, the way back.
    setSent(value);
    setText(value);
  }
  useEffect(() => {
    if (text === sent) return;
    const timer = setTimeout(() => {
      setSent(text);
      onChange(text);
    }, TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [text, sent, onChange]);
  return children(text, setText);
}

interface TypedProps {
  value: string;
  onChange: (value: string) => void;
  children: (text: string, type: (text: string) => void) => React.ReactNode;
}
