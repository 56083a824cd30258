import { describe, expect, it } from "vitest";
import { beginning, faultsOf, finished, readJson, serverFaults, writeJson } from "./draft";
import { nameOf, type Schema, shapeOf, Unreadable } from "./shape";

const USER: Schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    age: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
    level: { enum: ["low", "high"] },
    tags: { type: "array", items: { type: "string" } },
    boss: { $ref: "#/$defs/User" },
  },
  required: ["name", "tags"],
};
const ROOT: Schema = { ...USER, $defs: { User: USER } };

describe("the shape of a schema", () => {
  const kind = (schema: Schema) => shapeOf(schema, schema).kind;

  it("is the control that fits the type", () => {
    expect(kind({ type: "string" })).toBe("text");
    expect(kind({ type: "integer" })).toBe("number");
    expect(kind({ type: "boolean" })).toBe("flag");
    expect(kind({ enum: [1, 2] })).toBe("choice");
    expect(kind({ const: "x" })).toBe("choice");
    expect(kind({ type: "array", items: { type: "number" } })).toBe("list");
    expect(kind({ type: "object", additionalProperties: { type: "number" } })).toBe("map");
    expect(kind({ anyOf: [{ type: "string" }, { type: "integer" }] })).toBe("variant");
  });

  it("is raw JSON where a form cannot tell", () => {
    for (const schema of [
      {},
      { type: "object" },
      { type: "array" },
      { type: "array", prefixItems: [{}], items: {} },
    ]) {
      expect(kind(schema)).toBe("json");
    }
    expect(shapeOf(true, {}).kind).toBe("json");
  });

  it("takes null out of the alternatives", () => {
    const shape = shapeOf(
      { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], description: "years" },
      {},
    );
    expect(shape).toMatchObject({
      kind: "number",
      whole: true,
      minimum: 1,
      nullable: true,
      description: "years",
    });
    expect(shapeOf({ type: ["string", "null"] }, {})).toMatchObject({ kind: "text", nullable: true });
  });

  it("joins alternatives that are all fixed values", () => {
    expect(shapeOf({ oneOf: [{ const: "a" }, { enum: ["b", "c"] }] }, {})).toMatchObject({
      kind: "choice",
      values: ["a", "b", "c"],
    });
  });

  it("follows references in the same document, and no others", () => {
    expect(shapeOf({ $ref: "#/$defs/User" }, ROOT).kind).toBe("object");
    expect(shapeOf({ $ref: "https://example.com/x" }, ROOT).kind).toBe("json");
    expect(shapeOf({ $ref: "#/$defs/Loop" }, { $defs: { Loop: { $ref: "#/$defs/Loop" } } }).kind).toBe(
      "json",
    );
  });

  it("merges what all of several ask for", () => {
    const shape = shapeOf(
      {
        allOf: [
          { type: "object", properties: { a: {} }, required: ["a"] },
          { properties: { b: { type: "string" } } },
        ],
      },
      {},
    );
    expect(shape).toMatchObject({
      kind: "object",
      fields: [
        { name: "b", required: false },
        { name: "a", required: true },
      ],
    });
  });

  it("has a name beside others", () => {
    expect(nameOf({ type: "integer" }, {})).toBe("integer");
    expect(nameOf({ title: "Person", type: "object" }, {})).toBe("Person");
    expect(nameOf({ const: "x" }, {})).toBe('"x"');
  });
});

describe("a draft", () => {
  it("begins with what must be there and is known", () => {
    expect(beginning(ROOT, ROOT)).toEqual({ tags: [] });
    const endless: Schema = {
      type: "object",
      properties: { more: { $ref: "#" }, x: { $ref: "#/$defs/E" } },
      required: ["x"],
    };
    expect(() => beginning(endless, { ...endless, $defs: { E: endless } })).not.toThrow();
  });

  it("lacks what is required, at every depth that is there", () => {
    const pointers = (value: Parameters<typeof faultsOf>[2]) =>
      faultsOf(ROOT, ROOT, value).map((fault) => fault.pointer);
    expect(pointers({})).toEqual(["/name", "/tags"]);
    expect(pointers({ name: "x", tags: ["a"], boss: { name: "y" } })).toEqual(["/boss/tags"]);
    expect(pointers({ name: "x", tags: [undefined] })).toEqual(["/tags/0"]);
    expect(pointers({ name: "x", tags: [], age: new Unreadable("old"), more: new Unreadable("{") })).toEqual([
      "/age",
      "/more",
    ]);
    expect(pointers({ name: "x", tags: [], age: JSON.parse("9007199254740993") })).toEqual(["/age"]);
    expect(pointers({ name: "x", tags: [], age: 9007199254740991 })).toEqual([]);
  });

  it("is finished without what was not given", () => {
    expect(finished({ a: undefined, b: [1, { c: undefined }], d: null })).toEqual({ b: [1, {}], d: null });
  });

  it("goes to JSON and back", () => {
    const value = { a: [1, "x", null] };
    expect(readJson(writeJson(value))).toEqual(value);
    expect(writeJson(readJson("{"))).toBe("{");
    expect(readJson(" ")).toBeUndefined();
  });

  it("shows the server's faults at the fields", () => {
    expect(
      serverFaults([
        { pointer: "/params/a/0", detail: "too small" },
        { pointer: "/params", detail: '"b" is a required property' },
        { pointer: "/params", detail: "wrong" },
      ]),
    ).toEqual([
      { pointer: "/a/0", detail: "too small" },
      { pointer: "/b", detail: "This is needed" },
      { pointer: "", detail: "wrong" },
    ]);
  });
});
