/** The gates: those in force and those of the past, closing and opening them, and the emergency stop. */
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useMay, useTenant } from "~/api/session";
import { Badge } from "~/components/Badge";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { useFirst } from "~/components/Pager";
import { type Column, Table } from "~/components/Table";
import { Tabs } from "~/components/Tabs";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { useSearchState, withChanges } from "~/lib/search";
import { safeText } from "~/lib/text";
import { GateDrawer } from "./GateDrawer";
import styles from "./Gates.module.css";
import { NewGate } from "./NewGate";
import { StopDialog } from "./Stop";
import { type Gate, heldOf, kindOf, STATES, whatOf } from "./words";

export default function Gates() {
  const tenant = useTenant();
  const mayManage = useMay("gates:manage");
  const { params, change } = useSearchState();
  const past = params.get("view") === "past";
  const inForce = useApi("/v1/gates", { query: { tenant }, live: 1, every: 5 });
  // Asked for by themselves: among all of them, the latest would crowd out one that has been in force for long.
  const all = useApi("/v1/gates", { query: { tenant, all: true }, live: 1, every: 5, enabled: past });
  const gates = past ? all : inForce;
  const over = all.data?.items.filter((gate) => gate.state === "over");
  const { drawn, pager } = useFirst(past ? over : inForce.data?.items, "gate");
  const chosen = params.get("gate");
  const href = (gate: Gate) => `/gates?${withChanges(params, { gate: String(gate.id) })}`;
  return (
    <Page
      title="Gates"
      about="Orders to hold, drop or reject jobs; in force on every server from the moment they are given."
      actions={mayManage && <Deeds onNew={() => change({ new: "1" })} onStop={() => change({ stop: "1" })} />}
    >
      {gates.error && <ErrorNote error={gates.error} retry={() => void gates.refetch()} />}
      <Tabs
        label="Gates"
        tabs={[
          { id: "now", label: "In force", count: inForce.data?.items.length },
          { id: "past", label: "Past", count: over?.length },
        ]}
        current={past ? "past" : "now"}
        onChange={(view) => change({ view: view === "now" ? null : view })}
      >
        {gates.data?.more && (
          <Note>
            Of {past ? "all gates" : "those in force"}, the latest {gates.data.items.length} are looked at.
          </Note>
        )}
        <Panel flush>
          <Table
            label={past ? "Past gates" : "Gates in force"}
            columns={past ? columns(href, PAST) : columns(href, NOW)}
            rows={drawn}
            failed={gates.error !== null}
            rowKey={(gate) => String(gate.id)}
            href={href}
            empty={<NoGate past={past} />}
          />
        </Panel>
        {pager}
      </Tabs>
      {chosen !== null && <GateDrawer id={chosen} onClose={() => change({ gate: null })} />}
      {mayManage && params.get("new") !== null && (
        <NewGate queue={params.get("queue") ?? ""} onClose={() => change({ new: null, queue: null })} />
      )}
      {mayManage && params.get("stop") !== null && <StopDialog onClose={() => change({ stop: null })} />}
    </Page>
  );
}

function Deeds({ onNew, onStop }: { onNew: () => void; onStop: () => void }) {
  return (
    <>
      <Button kind="danger" icon="stop" onClick={onStop}>
        Emergency stop…
      </Button>
      <Button kind="primary" icon="plus" onClick={onNew}>
        New gate
      </Button>
    </>
  );
}

function columns(href: (gate: Gate) => string, last: Column<Gate>): Column<Gate>[] {
  return [
    {
      id: "id",
      head: "Gate",
      cell: (gate) => (
        <Link href={href(gate)}>
          {kindOf(gate)} {gate.id}
        </Link>
      ),
    },
    {
      id: "state",
      head: "State",
      cell: (gate) => (
        <Badge tone={STATES[gate.state] ?? "neutral"} dot>
          {gate.state}
        </Badge>
      ),
    },
    { id: "action", head: "Action", wide: true, cell: (gate) => gate.action },
    {
      id: "what",
      head: "For, and why",
      grow: true,
      cell: (gate) => (
        <span className={styles.what}>
          <Text value={whatOf(gate)} />
          <small>{safeText(gate.reason)}</small>
        </span>
      ),
    },
    { id: "held", head: "Jobs", align: "end", cell: heldOf },
    { id: "owner", head: "Owner", wide: true, cell: (gate) => <Text value={gate.owner} /> },
    { id: "made", head: "Closed", wide: true, cell: (gate) => <Time at={gate.made_at} /> },
    last,
  ];
}

const NOW: Column<Gate> = {
  id: "until",
  head: "Expires",
  cell: (gate) => (gate.expires_at ? <Time at={gate.expires_at} /> : "never"),
};
const PAST: Column<Gate> = {
  id: "released",
  head: "Released",
  cell: (gate) => <Time at={gate.released_at} />,
};

function NoGate({ past }: { past: boolean }) {
  if (past)
    return (
      <Empty icon="gates" title="No gate is over">
        Gates that were released stand here for a week.
      </Empty>
    );
  return (
    <Empty
      icon="gates"
      title="No gate is closed"
      action={<Command text='horae gate create --task TASK --reason "why"' />}
    >
      Jobs start as they can. A gate holds, drops or rejects some of them:
    </Empty>
  );
}
