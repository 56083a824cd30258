import type { Problem } from "~/api/error";
import { Fields, Select, TextField } from "~/components/Field";
import { Segments } from "~/components/Tabs";
import { zone } from "~/lib/preferences";
import { useStored } from "~/lib/stored";
import { safeText } from "~/lib/text";
import type { Task } from "./figures";
import type { OptionFaults, Options } from "./submit";

const PRIORITIES = Array.from({ length: 10 }, (_, at) => String(at + 1));
const WHEN = [
  { value: "now", label: "Now" },
  { value: "later", label: "Later" },
  { value: "at", label: "At" },
] as const;

interface JobOptionsProps {
  task: Task;
  options: Options;
  onChange: (options: Options) => void;
  faults: OptionFaults;
  /** Of the server: shown at the field that it names. */
  problem: Problem | undefined;
}

/** When and how a job shall run; what is left empty comes from the task. */
export function JobOptions({ task, options, onChange, faults, problem }: JobOptionsProps) {
  const [chosenZone] = useStored(zone);
  const { queue, priority, max_attempts, timeout } = task.definition;
  const set = (name: keyof Options) => (value: string) => onChange({ ...options, [name]: value });
  const field = (name: keyof Options, sent: string = name) => ({
    value: options[name],
    onChange: set(name),
    error: faults[name] ?? (problem?.field === sent ? safeText(problem.detail) : undefined),
  });
  return (
    <Fields columns={2}>
      <div>
        <Segments
          label="When"
          choices={WHEN}
          value={options.when}
          onChange={(when) => onChange({ ...options, when })}
        />
      </div>
      {options.when === "later" && (
        <TextField label="Run in" {...field("delay")} placeholder="10m" hint="90s, 10m, 1h30m" />
      )}
      {options.when === "at" && (
        <TextField
          label="Run at"
          type="datetime-local"
          {...field("at", "run_at")}
          hint={chosenZone === "utc" ? "In UTC" : "In your local time"}
        />
      )}
      {options.when === "now" && <span />}
      <Select
        label="Priority"
        choices={[{ value: "", label: `${priority ?? 5}, as the task has it` }, ...PRIORITIES]}
        {...field("priority")}
        hint="1 is the lowest, 10 an emergency"
      />
      <TextField label="Queue" {...field("queue")} placeholder={queue ?? "default"} />
      <TextField
        label="Attempts"
        inputMode="numeric"
        {...field("attempts", "max_attempts")}
        placeholder={String(max_attempts ?? 5)}
      />
      <TextField
        label="Timeout"
        {...field("timeout")}
        placeholder={timeout == null ? "none" : String(timeout)}
      />
      <TextField label="Labels" {...field("labels")} placeholder="customer=42, wave=7" hint="To find it by" />
    </Fields>
  );
}
