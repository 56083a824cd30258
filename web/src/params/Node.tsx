import { useState } from "react";
import { Button, IconButton } from "~/components/Button";
import { Select, TextField } from "~/components/Field";
import { classes } from "~/lib/classes";
import { safeText } from "~/lib/text";
import { beginning, type Fault, isDraftObject } from "./draft";
import { Leaf } from "./Leaf";
import styles from "./Params.module.css";
import { type Draft, type FieldOf, nameOf, type Schema, type Shape, shapeOf } from "./shape";

interface NodeProps {
  label: string;
  schema: unknown;
  root: Schema;
  required: boolean;
  value: Draft;
  onChange: (value: Draft) => void;
  faults: readonly Fault[];
  pointer: string;
}

interface PartProps extends NodeProps {
  shape: Shape;
}

/** One value of a schema, whatever it is made of. */
export function Node(props: NodeProps) {
  const shape = shapeOf(props.schema, props.root);
  const titled = shape.title !== undefined && shape.title.toLowerCase() !== props.label.toLowerCase();
  const label = safeText(titled ? `${props.label}: ${shape.title}` : props.label);
  const part = { ...props, shape, label };
  switch (shape.kind) {
    case "object":
    case "map":
    case "list":
      return <Group {...part} />;
    case "variant":
      return <Variant {...part} options={shape.options} />;
    default: {
      const name = props.required ? label : `${label} (optional)`;
      const error = errorAt(props.faults, props.pointer);
      const { required, value, onChange } = props;
      return <Leaf {...{ shape, required, value, onChange, error }} label={name} />;
    }
  }
}

export function errorAt(faults: readonly Fault[], pointer: string): string | undefined {
  const here = faults.filter((fault) => fault.pointer === pointer).map((fault) => fault.detail);
  return here.length === 0 ? undefined : safeText(here.join("; "));
}

/** Several values under one heading; one that is not required can be left out as a whole. */
function Group(props: PartProps) {
  const { label, shape, required, value, onChange, faults, pointer, schema, root } = props;
  const absent = value === undefined || value === null;
  const error = errorAt(faults, pointer);
  return (
    <fieldset className={styles.group} aria-label={label}>
      <div className={styles.head}>
        <span className={styles.name}>{required ? label : `${label} (optional)`}</span>
        {absent ? (
          <Button small icon="plus" onClick={() => onChange(begun(schema, root, shape))}>
            {`Add ${label}`}
          </Button>
        ) : (
          !required && (
            <Button small kind="quiet" icon="trash" onClick={() => onChange(undefined)}>
              {`Leave ${label} out`}
            </Button>
          )
        )}
      </div>
      {shape.description && <p className={styles.hint}>{safeText(shape.description)}</p>}
      {error && <p className={styles.error}>{error}</p>}
      {!absent && shape.kind === "object" && <ObjectFields {...props} fields={shape.fields} />}
      {!absent && shape.kind === "list" && <ListItems {...props} item={shape.item} />}
      {!absent && shape.kind === "map" && <MapEntries {...props} item={shape.item} />}
    </fieldset>
  );
}

function begun(schema: unknown, root: Schema, shape: Shape): Draft {
  return beginning(schema, root) ?? (shape.kind === "list" ? [] : {});
}

export function ObjectFields({
  fields,
  value,
  onChange,
  ...rest
}: Omit<NodeProps, "label" | "schema"> & { fields: FieldOf[] }) {
  const object = isDraftObject(value) ? value : {};
  return (
    <div className={styles.fields}>
      {fields.map(({ name, schema, required }) => (
        <Node
          key={name}
          {...rest}
          label={name}
          schema={schema}
          required={required}
          value={object[name]}
          pointer={`${rest.pointer}/${name}`}
          onChange={(next) => onChange({ ...object, [name]: next })}
        />
      ))}
    </div>
  );
}

function ListItems({ item, value, onChange, label, ...rest }: PartProps & { item: Schema }) {
  const items: Draft[] = Array.isArray(value) ? value : [];
  const put = (at: number, next: Draft) => onChange(items.map((each, other) => (other === at ? next : each)));
  return (
    <>
      {items.map((each, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item of a list is its place
        <div key={at} className={classes(styles.item, isGroup(item, rest.root) && styles.tall)}>
          <Node
            {...rest}
            label={`${label} ${at + 1}`}
            schema={item}
            required
            value={each}
            pointer={`${rest.pointer}/${at}`}
            onChange={(next) => put(at, next)}
          />
          <IconButton
            label={`Remove ${label} ${at + 1}`}
            icon="trash"
            onClick={() => onChange(items.filter((_, other) => other !== at))}
          />
        </div>
      ))}
      <div>
        <Button small icon="plus" onClick={() => onChange([...items, beginning(item, rest.root)])}>
          {`Add to ${label}`}
        </Button>
      </div>
    </>
  );
}

function isGroup(schema: Schema, root: Schema): boolean {
  return ["object", "map", "list", "variant"].includes(shapeOf(schema, root).kind);
}

function MapEntries({ item, value, onChange, label, ...rest }: PartProps & { item: Schema }) {
  const object = isDraftObject(value) ? value : {};
  const [name, setName] = useState("");
  const taken = name === "" || name in object;
  const add = () => {
    onChange({ ...object, [name]: beginning(item, rest.root) });
    setName("");
  };
  return (
    <>
      {Object.entries(object).map(([each, inner]) => (
        <div key={each} className={styles.item}>
          <Node
            {...rest}
            label={each}
            schema={item}
            required
            value={inner}
            pointer={`${rest.pointer}/${each}`}
            onChange={(next) => onChange({ ...object, [each]: next })}
          />
          <IconButton
            label={`Remove ${safeText(each)}`}
            icon="trash"
            onClick={() =>
              onChange(Object.fromEntries(Object.entries(object).filter(([other]) => other !== each)))
            }
          />
        </div>
      ))}
      <div className={styles.item}>
        <TextField label={`New name in ${label}`} value={name} onChange={setName} />
        <Button disabled={taken} onClick={add}>
          Add
        </Button>
      </div>
    </>
  );
}

/** One of several schemas: which one is chosen first. */
function Variant({ options, shape, ...props }: PartProps & { options: Schema[] }) {
  const { label, root, required, value, onChange } = props;
  const [chosen, setChosen] = useState(() => fitting(options, root, value));
  const choose = (next: string) => {
    setChosen(next === "" ? -1 : Number(next));
    onChange(next === "" ? undefined : beginning(options[Number(next)], root));
  };
  const choices = [
    { value: "", label: required ? "choose" : "not given" },
    ...options.map((option, at) => ({ value: String(at), label: safeText(nameOf(option, root)) })),
  ];
  return (
    <div className={styles.pair}>
      <Select
        label={`Kind of ${label}`}
        hint={shape.description && safeText(shape.description)}
        choices={choices}
        value={chosen === -1 ? "" : String(chosen)}
        onChange={choose}
      />
      {chosen !== -1 && <Node key={chosen} {...props} schema={options[chosen]} required />}
    </div>
  );
}

/** The first that a value may be of, by its type. */
function fitting(options: Schema[], root: Schema, value: Draft): number {
  if (value === undefined || value === null) return -1;
  return options.findIndex((option) => {
    const { kind } = shapeOf(option, root);
    if (typeof value === "string") return kind === "text" || kind === "choice" || kind === "json";
    if (typeof value === "number") return kind === "number" || kind === "json";
    if (typeof value === "boolean") return kind === "flag" || kind === "json";
    if (Array.isArray(value)) return kind === "list" || kind === "json";
    return kind === "object" || kind === "map" || kind === "json";
  });
}
