import { Badge } from "~/components/Badge";
import { Facts } from "~/components/Facts";
import { Json } from "~/components/Json";
import { Empty } from "~/components/Note";
import { Panel } from "~/components/Page";
import { type Column, Table } from "~/components/Table";
import { LongText, Text } from "~/components/Text";
import { safeText } from "~/lib/text";
import { type FieldOf, nameOf, type Schema, shapeOf } from "~/params/shape";
import type { Definition } from "./figures";
import styles from "./Tasks.module.css";

/** What a task is: its defaults, its params, and what runs. */
export function DefinitionPart({ definition }: { definition: Definition }) {
  const { script, container, http } = definition;
  return (
    <div className={styles.stack}>
      <Panel title="Defaults" note="of its jobs; a submit may say otherwise">
        <Defaults definition={definition} />
      </Panel>
      <Params schema={definition.params_schema as Schema | null | undefined} />
      {script && (
        <Panel title="Script" note={script.interpreter ? safeText(script.interpreter) : undefined}>
          <LongText label="Source" value={script.source ?? ""} />
        </Panel>
      )}
      {(container ?? http) && (
        <Panel title={container ? "Container" : "HTTP call"}>
          <Json label="What runs" value={container ?? http} />
        </Panel>
      )}
      <Panel title="Whole definition" note="as horae task show prints it">
        <Json label="Definition" value={definition} />
      </Panel>
    </div>
  );
}

function Defaults({ definition }: { definition: Definition }) {
  const {
    queue,
    priority,
    max_attempts,
    timeout,
    expires_in,
    max_running,
    rate,
    spread,
    keep_results,
    retry,
  } = definition;
  const wait = retry && `${retry.first ?? 2} s, then × ${retry.factor ?? 2}, at most ${retry.cap ?? 3600} s`;
  return (
    <Facts
      items={[
        ["Queue", safeText(queue ?? "default")],
        ["Priority", priority ?? 5],
        ["Attempts", max_attempts ?? 5],
        ["Timeout", timeout ?? "none"],
        wait ? ["Between attempts", wait] : null,
        expires_in != null && ["Must start within", expires_in],
        max_running != null && ["At once", max_running],
        rate != null && ["Starts", String(rate)],
        spread != null && ["At once on one worker", spread],
        keep_results != null && ["Results are kept", keep_results],
      ]}
    />
  );
}

function Params({ schema }: { schema: Schema | null | undefined }) {
  const root = schema ?? {};
  const shape = shapeOf(root, root);
  const columns: readonly Column<FieldOf>[] = [
    { id: "name", head: "Name", width: "12rem", cell: (field) => <Text value={field.name} mono /> },
    {
      id: "type",
      head: "Type",
      width: "10rem",
      cell: (field) => <Text value={nameOf(field.schema, root)} />,
    },
    {
      id: "needed",
      head: "",
      width: "6rem",
      cell: (field) => field.required && <Badge tone="accent">required</Badge>,
    },
    {
      id: "usual",
      head: "Unless given",
      width: "10rem",
      wide: true,
      cell: (field) => <Usual field={field} root={root} />,
    },
    {
      id: "about",
      head: "About",
      grow: true,
      cell: (field) => <Text value={shapeOf(field.schema, root).description ?? ""} />,
    },
  ];
  return (
    <Panel title="Params" flush>
      <Table
        label="Params"
        columns={columns}
        rows={shape.kind === "object" ? shape.fields : []}
        rowKey={(field) => field.name}
        empty={
          <Empty title={schema ? "Its schema names no params" : "It has no schema"}>
            {schema
              ? "The whole definition below has the schema."
              : "Any JSON object is taken; a schema would be checked at each submit."}
          </Empty>
        }
      />
    </Panel>
  );
}

function Usual({ field, root }: { field: FieldOf; root: Schema }) {
  const usual = shapeOf(field.schema, root).default;
  return usual === undefined ? null : <Text value={JSON.stringify(usual).slice(0, 80)} mono />;
}
