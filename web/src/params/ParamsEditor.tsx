import { useState } from "react";
import { TextArea } from "~/components/Field";
import { Note } from "~/components/Note";
import { Segments } from "~/components/Tabs";
import { safeText } from "~/lib/text";
import { type Fault, faultsOf, isDraftObject, readJson, writeJson } from "./draft";
import { ObjectFields } from "./Node";
import styles from "./Params.module.css";
import { type Draft, isObject, type Schema, shapeOf, Unreadable } from "./shape";

interface ParamsEditorProps {
  /** JSON Schema of the params; without one, or with one that is no object, there is only raw JSON. */
  schema: unknown;
  value: Draft;
  onChange: (value: Draft) => void;
  /** What is wrong, by its path; see `serverFaults` and `faultsOf`. */
  faults: readonly Fault[];
}

/** Params of a job: a form made from the task's schema, or raw JSON. */
export function ParamsEditor({ schema, value, onChange, faults }: ParamsEditorProps) {
  const root: Schema = isObject(schema) ? schema : {};
  const shape = shapeOf(root, root);
  const fields = shape.kind === "object" ? shape.fields : undefined;
  const [raw, setRaw] = useState(fields === undefined);
  const formless =
    fields === undefined || value instanceof Unreadable || (value !== undefined && !isDraftObject(value));
  return (
    <div className={styles.fields}>
      <div className={styles.modes}>
        <span className={styles.name}>Params</span>
        {fields !== undefined && (
          <Segments
            label="How to give the params"
            choices={[
              { value: "form", label: "Form" },
              { value: "json", label: "JSON" },
            ]}
            value={raw || formless ? "json" : "form"}
            onChange={(mode) => setRaw(mode === "json")}
          />
        )}
      </div>
      {raw || formless ? (
        <RawParams value={value} onChange={onChange} faults={faults} />
      ) : (
        <>
          <Unplaced faults={faults} known={new Set(fields.map((field) => field.name))} />
          <ObjectFields
            fields={fields}
            root={root}
            required
            value={value}
            onChange={onChange}
            faults={faults}
            pointer=""
          />
          {fields.length === 0 && <p className={styles.hint}>This task takes no params.</p>}
        </>
      )}
    </div>
  );
}

function RawParams({ value, onChange, faults }: Omit<ParamsEditorProps, "schema">) {
  const [typed, setTyped] = useState(() => writeJson(value));
  const wrong =
    value instanceof Unreadable
      ? "This is not JSON"
      : value !== undefined && !isDraftObject(value)
        ? 'Params are an object, such as {"name": "Ann"}'
        : undefined;
  const told = faults.map(
    ({ pointer, detail }) => `${pointer === "" ? "" : `${pointer}: `}${safeText(detail)}`,
  );
  const change = (next: string) => {
    setTyped(next);
    onChange(next.trim() === "" ? {} : readJson(next));
  };
  return (
    <TextArea
      label="Params as JSON"
      mono
      rows={Math.min(24, Math.max(6, typed.split("\n").length))}
      value={typed}
      error={wrong ?? (told.length > 0 ? told.join("; ") : undefined)}
      onChange={change}
    />
  );
}

/** Faults of the whole, or of what the form has no field for. */
function Unplaced({ faults, known }: { faults: readonly Fault[]; known: ReadonlySet<string> }) {
  const rest = faults.filter(({ pointer }) => !known.has(pointer.split("/")[1] ?? ""));
  if (rest.length === 0) return null;
  return (
    <Note tone="danger">
      {rest.map(({ pointer, detail }) => safeText(`${pointer} ${detail}`.trim())).join("; ")}
    </Note>
  );
}

/** What is wrong with a draft of params before it is sent. */
export function paramFaults(schema: unknown, value: Draft): Fault[] {
  const root: Schema = isObject(schema) ? schema : {};
  if (value !== undefined && !isDraftObject(value)) return [{ pointer: "", detail: "Params are an object" }];
  return faultsOf(root, root, value ?? {});
}
