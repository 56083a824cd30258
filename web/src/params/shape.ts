/** What a JSON Schema asks for, as fields of a form. Pure. What a form cannot show is left to raw JSON. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Schema = { readonly [name: string]: unknown };

/** What somebody has typed and no value can be made of; it is kept so that it can be mended. */
export class Unreadable {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value under construction: undefined is not given. */
export type Draft = Json | Unreadable | undefined | Draft[] | { [name: string]: Draft };
export type DraftObject = { [name: string]: Draft };

export interface FieldOf {
  name: string;
  schema: Schema;
  required: boolean;
}

interface Common {
  title?: string;
  description?: string;
  default?: Json;
  nullable: boolean;
}

export type Shape = Common &
  (
    | { kind: "text"; format?: string; examples: string[] }
    | { kind: "number"; whole: boolean; minimum?: number; maximum?: number }
    | { kind: "flag" }
    | { kind: "choice"; values: Json[] }
    | { kind: "object"; fields: FieldOf[] }
    | { kind: "map"; item: Schema }
    | { kind: "list"; item: Schema }
    | { kind: "variant"; options: Schema[] }
    | { kind: "json" }
  );

const DEEPEST_REFERENCE = 8;

export function shapeOf(given: unknown, root: Schema): Shape {
  const schema = resolve(given, root);
  const common: Common = {
    title: text(schema.title),
    description: text(schema.description),
    default: schema.default as Json | undefined,
    nullable: false,
  };
  if ("const" in schema) return { ...common, kind: "choice", values: [schema.const as Json] };
  if (Array.isArray(schema.enum)) return { ...common, kind: "choice", values: schema.enum as Json[] };
  const options = alternatives(schema, root);
  return options === undefined ? simple(schema, common) : oneOf(options, common, root);
}

/** The schema itself: references into the same document followed, `allOf` merged. */
export function resolve(given: unknown, root: Schema, depth = 0): Schema {
  if (!isObject(given) || depth > DEEPEST_REFERENCE) return {};
  const { $ref, allOf, ...own } = given;
  let found: Schema = own;
  if (typeof $ref === "string") found = { ...resolve(pointed($ref, root), root, depth + 1), ...own };
  if (Array.isArray(allOf)) {
    for (const part of allOf) found = merged(resolve(part, root, depth + 1), found);
  }
  return found;
}

function merged(one: Schema, other: Schema): Schema {
  return {
    ...one,
    ...other,
    ...("properties" in one || "properties" in other
      ? { properties: { ...object(one.properties), ...object(other.properties) } }
      : {}),
    ...("required" in one || "required" in other
      ? { required: [...list(one.required), ...list(other.required)] }
      : {}),
  };
}

function pointed(reference: string, root: Schema): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) ? found[name] : undefined;
  }
  return found;
}

function alternatives(schema: Schema, root: Schema): Schema[] | undefined {
  const { anyOf, oneOf: one, type, ...rest } = schema;
  const options = Array.isArray(anyOf) ? anyOf : Array.isArray(one) ? one : undefined;
  if (options !== undefined) return options.map((option) => resolve(option, root));
  return Array.isArray(type) ? type.map((each) => ({ ...rest, type: each as unknown })) : undefined;
}

function oneOf(all: Schema[], common: Common, root: Schema): Shape {
  const options = all.filter((option) => option.type !== "null");
  const outer = { ...common, nullable: options.length < all.length };
  const [only] = options;
  if (options.length === 1 && only !== undefined) {
    const inner = shapeOf(only, root);
    return { ...inner, ...defined(outer), nullable: outer.nullable || inner.nullable };
  }
  const shapes = options.map((option) => shapeOf(option, root));
  const values = shapes.flatMap((shape) => (shape.kind === "choice" ? shape.values : []));
  if (shapes.length > 0 && shapes.every((shape) => shape.kind === "choice"))
    return { ...outer, kind: "choice", values };
  return options.length === 0 ? { ...outer, kind: "json" } : { ...outer, kind: "variant", options };
}

function simple(schema: Schema, common: Common): Shape {
  switch (schema.type ?? (isObject(schema.properties) ? "object" : undefined)) {
    case "string":
      return {
        ...common,
        kind: "text",
        format: text(schema.format),
        examples: list(schema.examples).map(String),
      };
    case "integer":
    case "number":
      return {
        ...common,
        kind: "number",
        whole: schema.type === "integer",
        minimum: number(schema.minimum),
        maximum: number(schema.maximum),
      };
    case "boolean":
      return { ...common, kind: "flag" };
    case "object":
      return objectShape(schema, common);
    case "array":
      return isObject(schema.items) && !Array.isArray(schema.prefixItems)
        ? { ...common, kind: "list", item: schema.items }
        : { ...common, kind: "json" };
    default:
      return { ...common, kind: "json" };
  }
}

function objectShape(schema: Schema, common: Common): Shape {
  const properties = Object.entries(object(schema.properties));
  if (properties.length > 0) {
    const required = new Set(list(schema.required));
    const fields = properties.map(([name, field]) => ({
      name,
      schema: object(field),
      required: required.has(name),
    }));
    return { ...common, kind: "object", fields };
  }
  return isObject(schema.additionalProperties)
    ? { ...common, kind: "map", item: schema.additionalProperties }
    : { ...common, kind: "json" };
}

/** What a schema may be called where several stand side by side. */
export function nameOf(given: Schema, root: Schema): string {
  const schema = resolve(given, root);
  const shape = shapeOf(schema, root);
  if (shape.title) return shape.title;
  if (shape.kind === "choice") return shape.values.map((value) => JSON.stringify(value)).join(" or ");
  return typeof schema.type === "string" ? schema.type : shape.kind;
}

export function isObject(value: unknown): value is Schema {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Unreadable)
  );
}

const object = (value: unknown): Schema => (isObject(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

function defined(common: Common): Partial<Common> {
  return Object.fromEntries(Object.entries(common).filter(([, value]) => value !== undefined));
}
