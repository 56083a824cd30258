import { useState } from "react";
import { Checkbox, Select, TextArea, TextField } from "~/components/Field";
import { safeText } from "~/lib/text";
import { readJson, writeJson } from "./draft";
import { type Draft, type Json, type Shape, Unreadable } from "./shape";

export interface LeafProps {
  label: string;
  shape: Shape;
  required: boolean;
  value: Draft;
  onChange: (value: Draft) => void;
  error?: string;
}

/** One control for one value; what is left empty is not given. */
export function Leaf(props: LeafProps) {
  switch (props.shape.kind) {
    case "text":
      return <TextLeaf {...props} />;
    case "number":
      return <NumberLeaf {...props} />;
    case "flag":
      return <FlagLeaf {...props} />;
    case "choice":
      return <ChoiceLeaf {...props} values={props.shape.values} />;
    default:
      return <JsonLeaf {...props} />;
  }
}

function hintOf({ description, default: usual, ...shape }: Shape): string | undefined {
  const bounds =
    shape.kind === "number" && (shape.minimum !== undefined || shape.maximum !== undefined)
      ? `${shape.minimum ?? "…"} to ${shape.maximum ?? "…"}.`
      : undefined;
  const given =
    usual === undefined || usual === null
      ? undefined
      : `Unless given: ${safeText(JSON.stringify(usual)).slice(0, 80)}.`;
  return [description && safeText(description), bounds, given].filter(Boolean).join(" ") || undefined;
}

const EXAMPLES: Record<string, string> = {
  "date-time": "2026-11-20T10:00:00Z",
  date: "2026-11-20",
  time: "10:00:00Z",
  email: "ann@example.com",
  uri: "https://example.com/",
  uuid: "01980000-0000-7000-8000-000000000000",
};

function TextLeaf({ label, shape, required, value, onChange, error }: LeafProps) {
  const text = typeof value === "string" ? value : "";
  const common = { label, hint: hintOf(shape), error, value: text };
  const given = (next: string) => onChange(next === "" && !required ? undefined : next);
  if (text.includes("\n")) return <TextArea {...common} onChange={given} />;
  const example = shape.kind === "text" && shape.format ? EXAMPLES[shape.format] : undefined;
  const options = shape.kind === "text" && shape.examples.length > 0 ? shape.examples : undefined;
  return <TextField {...common} placeholder={example} options={options} onChange={given} />;
}

function NumberLeaf({ label, shape, value, onChange, error }: LeafProps) {
  const whole = shape.kind === "number" && shape.whole;
  const shown = value instanceof Unreadable ? value.text : typeof value === "number" ? String(value) : "";
  // "1." and "1.0" are the same number: what was typed stays as it was while it means the value.
  const [typed, setTyped] = useState(shown);
  const text = sameNumber(typed, value) ? typed : shown;
  const change = (next: string) => {
    setTyped(next);
    onChange(readNumber(next, whole));
  };
  const mode = whole ? "numeric" : "decimal";
  return (
    <TextField
      label={label}
      hint={hintOf(shape)}
      error={error}
      value={text}
      inputMode={mode}
      onChange={change}
    />
  );
}

function readNumber(text: string, whole: boolean): Draft {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  // A whole number too large for this page's arithmetic would be sent as another one.
  const fits = whole ? Number.isSafeInteger(number) : Number.isFinite(number);
  return fits ? number : new Unreadable(text);
}

function sameNumber(text: string, value: Draft): boolean {
  if (value instanceof Unreadable) return value.text === text;
  return text.trim() === "" ? value === undefined : Number(text) === value;
}

function FlagLeaf({ label, shape, required, value, onChange, error }: LeafProps) {
  if (required && !shape.nullable && !error) {
    return <Checkbox label={label} hint={hintOf(shape)} checked={value === true} onChange={onChange} />;
  }
  return <ChoiceLeaf {...{ label, shape, required, value, onChange, error }} values={[true, false]} />;
}

function ChoiceLeaf({
  label,
  shape,
  required,
  value,
  onChange,
  error,
  values,
}: LeafProps & { values: Json[] }) {
  const all = shape.nullable && !values.includes(null) ? [...values, null] : values;
  const chosen = all.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
  const choices = [
    { value: "", label: required ? "choose" : "not given" },
    ...all.map((each, at) => ({
      value: String(at),
      label: safeText(typeof each === "string" ? each : JSON.stringify(each)),
    })),
  ];
  return (
    <Select
      label={label}
      hint={hintOf(shape)}
      error={error}
      choices={choices}
      value={chosen === -1 ? "" : String(chosen)}
      onChange={(next) => onChange(next === "" ? undefined : all[Number(next)])}
    />
  );
}

function JsonLeaf({ label, shape, value, onChange, error }: LeafProps) {
  const [typed, setTyped] = useState(() => writeJson(value));
  const text = writeJson(readJson(typed)) === writeJson(value) ? typed : writeJson(value);
  const change = (next: string) => {
    setTyped(next);
    onChange(readJson(next));
  };
  const hint = [hintOf(shape), 'As JSON, such as 5, "text" or {"a": 1}.'].filter(Boolean).join(" ");
  return <TextArea label={label} hint={hint} error={error} mono rows={3} value={text} onChange={change} />;
}
