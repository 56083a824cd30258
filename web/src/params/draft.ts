/** Values of a form under construction: how one begins, what is wrong with it, and what becomes of it. Pure. */
import { INEXACT, inexactIn } from "./exact";
import { type Draft, type DraftObject, isObject, type Json, type Schema, shapeOf, Unreadable } from "./shape";

export interface Fault {
  /** Where, as a path of names and numbers: "/user/emails/0". */
  pointer: string;
  detail: string;
}

const DEEPEST = 12;

/** What must be there, with what is known of it: the rest is left out until somebody gives it. */
export function beginning(given: unknown, root: Schema, depth = 0): Draft {
  // A schema that requires itself has no end; nobody can fill it in either.
  if (depth > DEEPEST) return undefined;
  const shape = shapeOf(given, root);
  if (shape.default !== undefined) return shape.default;
  switch (shape.kind) {
    case "object":
      return Object.fromEntries(
        shape.fields.flatMap((field): [string, Draft][] => {
          const begun = field.required ? beginning(field.schema, root, depth + 1) : undefined;
          return begun === undefined ? [] : [[field.name, begun]];
        }),
      );
    case "map":
      return {};
    case "list":
      return [];
    case "flag":
      return false;
    case "choice":
      return shape.values.length === 1 ? shape.values[0] : undefined;
    default:
      return undefined;
  }
}

/** What is missing or cannot be read; all else is for the server to say, which knows the whole schema. */
export function faultsOf(given: unknown, root: Schema, value: Draft, pointer = ""): Fault[] {
  if (value instanceof Unreadable) return unread(value, pointer);
  const shape = shapeOf(given, root);
  if (shape.kind === "object" && isDraftObject(value)) {
    const known = shape.fields.flatMap(({ name, schema, required }) => {
      const inner = value[name];
      if (inner !== undefined) return faultsOf(schema, root, inner, `${pointer}/${name}`);
      return required ? [{ pointer: `${pointer}/${name}`, detail: "This is needed" }] : [];
    });
    const names = new Set(shape.fields.map((field) => field.name));
    return [
      ...known,
      ...Object.keys(value).flatMap((name) =>
        names.has(name) ? [] : unread(value[name], `${pointer}/${name}`),
      ),
    ];
  }
  const item = shape.kind === "list" || shape.kind === "map" ? shape.item : undefined;
  if (item === undefined) return unread(value, pointer);
  return entries(value).flatMap(([name, inner]) =>
    inner === undefined
      ? [{ pointer: `${pointer}/${name}`, detail: "This is needed" }]
      : faultsOf(item, root, inner, `${pointer}/${name}`),
  );
}

function unread(value: Draft, pointer: string): Fault[] {
  if (value instanceof Unreadable) return [{ pointer, detail: `${value.text.slice(0, 40)} cannot be read` }];
  if (typeof value === "number" && inexactIn(value) !== undefined) return [{ pointer, detail: INEXACT }];
  return entries(value).flatMap(([name, inner]) => unread(inner, `${pointer}/${name}`));
}

function entries(value: Draft): [string, Draft][] {
  if (Array.isArray(value)) return value.map((inner, at) => [String(at), inner as Draft]);
  return isDraftObject(value) ? Object.entries(value) : [];
}

/** The value without what was not given. Only of a draft without faults. */
export function finished(value: Draft): Json {
  if (value === undefined || value instanceof Unreadable) return null;
  if (Array.isArray(value)) return value.map((inner) => finished(inner as Draft));
  if (!isDraftObject(value)) return value as Json;
  const given = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(given.map(([name, inner]) => [name, finished(inner)]));
}

export function isDraftObject(value: Draft): value is DraftObject {
  return isObject(value);
}

/** The faults of params in a problem of the server; of others none, which the caller shows as it is. */
export function serverFaults(errors: readonly { pointer: string; detail: string }[] | undefined): Fault[] {
  return (errors ?? []).map(({ pointer, detail }) => ({ ...placed(pointer, detail) }));
}

const MISSING = /^"(.*)" is a required property$/;

/** What is missing is told of the object that lacks it; a form shows it at the field. */
function placed(pointer: string, detail: string): Fault {
  const inner = pointer.replace(/^\/params/, "");
  const missing = MISSING.exec(detail)?.[1];
  return missing === undefined
    ? { pointer: inner, detail }
    : { pointer: `${inner}/${missing}`, detail: "This is needed" };
}

/** A JSON text as a draft. */
export function readJson(text: string): Draft {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return new Unreadable(text);
  }
}

export function writeJson(value: Draft): string {
  if (value instanceof Unreadable) return value.text;
  return value === undefined ? "" : JSON.stringify(finished(value), null, 2);
}
