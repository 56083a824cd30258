import { useState } from "react";
import { useLocation } from "wouter";
import { address } from "~/api/call";
import { useAllTenants, useTenant } from "~/api/session";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Dialog } from "~/components/Dialog";
import { Checkbox, TextField } from "~/components/Field";
import { Menu, type MenuItem } from "~/components/Menu";
import { useSearchState } from "~/lib/search";
import { curl, shellWords } from "~/lib/shell";
import { useStored } from "~/lib/stored";
import { COLUMNS, chosenColumns } from "./columns";
import { cliArguments, isReadable, type JobFilter, listQuery } from "./filter";
import styles from "./Jobs.module.css";
import { BUILT_IN, saved, type View, viewOf, views, withView } from "./views";

/** Beside the list: saved views, columns, and the same question for a terminal. */
export function ListTools({ filter }: { filter: JobFilter }) {
  const [open, setOpen] = useState<"save" | "columns" | "command">();
  const close = () => setOpen(undefined);
  return (
    <div className={styles.tools}>
      <Views onSave={() => setOpen("save")} />
      <Button small kind="quiet" icon="columns" onClick={() => setOpen("columns")}>
        Columns
      </Button>
      <Button
        small
        kind="quiet"
        icon="copy"
        disabled={!isReadable(filter)}
        title={isReadable(filter) ? undefined : "A filter cannot be read"}
        onClick={() => setOpen("command")}
      >
        As a command
      </Button>
      {open === "save" && <SaveView onClose={close} />}
      {open === "columns" && <ChooseColumns onClose={close} />}
      {open === "command" && <AsCommand filter={filter} onClose={close} />}
    </div>
  );
}

function Views({ onSave }: { onSave: () => void }) {
  const [mine, setMine] = useStored(views);
  const { params } = useSearchState();
  const [, go] = useLocation();
  const here = viewOf(params);
  const item = (view: View): MenuItem => ({
    label: view.name,
    checked: view.search === here,
    onSelect: () => go(`/jobs?${withView(params, view.search)}`),
  });
  const current = mine.find((view) => view.search === here);
  const items: (MenuItem | null)[] = [...BUILT_IN.map(item), null, ...mine.map(item)];
  if (mine.length > 0) items.push(null);
  items.push({ label: "Save this view…", icon: "star", onSelect: onSave });
  if (current) {
    items.push({
      label: `Forget “${current.name}”`,
      icon: "trash",
      onSelect: () => setMine(mine.filter((view) => view !== current)),
    });
  }
  return <Menu label={current?.name ?? "Views"} icon="star" kind="quiet" small align="start" items={items} />;
}

function SaveView({ onClose }: { onClose: () => void }) {
  const [mine, setMine] = useStored(views);
  const { params } = useSearchState();
  const [name, setName] = useState("");
  const save = () => {
    setMine(saved(mine, { name: name.trim(), search: viewOf(params) }));
    onClose();
  };
  return (
    <Dialog
      title="Save this view"
      open
      onClose={onClose}
      footer={
        <Button kind="primary" disabled={name.trim() === ""} onClick={save}>
          Save
        </Button>
      }
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        maxLength={60}
        autoFocus
        hint="It stays in this browser; to share it, share the address."
      />
    </Dialog>
  );
}

function ChooseColumns({ onClose }: { onClose: () => void }) {
  const { params, change } = useSearchState();
  const tenants = useAllTenants();
  const chosen = new Set(chosenColumns(params.get("columns"), tenants).map((column) => column.id));
  const toggle = (id: string, on: boolean) => {
    const next = COLUMNS.filter((column) => (column.id === id ? on : chosen.has(column.id)));
    if (next.length > 0) change({ columns: next.map((column) => column.id).join(",") });
  };
  return (
    <Dialog
      title="Columns"
      open
      onClose={onClose}
      footer={<Button onClick={() => change({ columns: null })}>The usual ones</Button>}
    >
      <div className={styles.columnList}>
        {COLUMNS.map((column) => (
          <Checkbox
            key={column.id}
            label={column.name}
            checked={chosen.has(column.id)}
            onChange={(on) => toggle(column.id, on)}
          />
        ))}
      </div>
    </Dialog>
  );
}

function AsCommand({ filter, onClose }: { filter: JobFilter; onClose: () => void }) {
  const tenant = useTenant();
  const path = address("/v1/jobs", {}, { ...listQuery(filter, new Date()), tenant });
  return (
    <Dialog title="This list in a terminal" open onClose={onClose} wide>
      <Command
        text={shellWords(["horae", "jobs", ...cliArguments(filter, tenant)])}
        label="Copy the command"
      />
      <Command text={curl("GET", path)} label="Copy the curl command" />
    </Dialog>
  );
}
