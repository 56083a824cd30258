import { Link } from "wouter";
import { IconButton } from "~/components/Button";
import { Icon } from "~/components/Icon";
import { Menu } from "~/components/Menu";
import type { Column } from "~/components/Table";
import { Unseen } from "~/components/Text";
import { Time } from "~/components/Time";
import { formatCount, safeText } from "~/lib/text";
import type { Deed } from "./deeds";
import type { useScheduleHref } from "./links";
import { ScheduleState } from "./Marks";
import { Punctuality } from "./Punctuality";
import styles from "./schedules.module.css";
import type { Schedule, Tick } from "./types";
import { effectsOf, markWords } from "./words";

interface Given {
  /** Of several tenants: show whose it is. */
  all: boolean;
  href: ReturnType<typeof useScheduleHref>;
  /** Undefined for those who may not. */
  ask?: (deed: Deed, schedule: Schedule) => void;
}

export function scheduleColumns({ all, href, ask }: Given): Column<Schedule>[] {
  const columns: (Column<Schedule> | false)[] = [
    {
      id: "name",
      head: "Schedule",
      grow: true,
      cell: (row) => <Name row={row} href={href(row.definition.name, row.tenant)} />,
    },
    all && { id: "tenant", head: "Tenant", wide: true, cell: (row) => safeText(row.tenant) },
    { id: "state", head: "State", wide: true, cell: (row) => <ScheduleState state={row.state} /> },
    { id: "next", head: "Next ticks", cell: (row) => <Coming row={row} /> },
    {
      id: "latest",
      head: "Punctuality",
      wide: true,
      width: "8rem",
      cell: (row) => <Punctuality ticks={row.latest ?? []} />,
    },
    { id: "runs", head: "Runs", align: "end", wide: true, cell: (row) => formatCount(row.runs) },
    ask !== undefined && {
      id: "deeds",
      head: <Unseen>Actions</Unseen>,
      align: "end",
      width: "6rem",
      cell: (row) => <Deeds row={row} ask={ask} />,
    },
  ];
  return columns.filter((column): column is Column<Schedule> => column !== false);
}

function Name({ row, href }: { row: Schedule; href: string }) {
  const words = row.words.map(safeText).join("; ");
  return (
    <div className={styles.name}>
      <Link href={href}>{safeText(row.definition.name)}</Link>
      <span className={styles.under} title={words}>
        {words} · {safeText(row.definition.task)}
      </span>
    </div>
  );
}

function Coming({ row }: { row: Schedule }) {
  const ticks = row.next ?? [];
  if (row.state !== "active") return <span className={styles.detail}>{row.state}</span>;
  if (ticks.length === 0) return <Time at={row.next_run_at} />;
  return (
    <span className={styles.coming}>
      {ticks.map((tick) => (
        <ComingTick key={tick.at} tick={tick} />
      ))}
    </span>
  );
}

/** Struck out when it will be skipped, with a sign where something moves it. */
function ComingTick({ tick }: { tick: Tick }) {
  const effects = effectsOf(tick);
  const time = tick.skipped ? (
    <s className={styles.gone}>
      <Time at={tick.run_at} />
    </s>
  ) : (
    <Time at={tick.run_at} />
  );
  if (effects.length === 0) return time;
  const words = effects.map((code) => markWords(code).label).join(", ");
  return (
    <span className={styles.flagged} title={safeText(tick.detail ?? words)}>
      {time}
      <Icon name="warn" size={12} />
      <Unseen>{words}</Unseen>
    </span>
  );
}

function Deeds({ row, ask }: { row: Schedule; ask: (deed: Deed, schedule: Schedule) => void }) {
  const name = safeText(row.definition.name);
  const paused = row.state === "paused";
  return (
    <span className={styles.rowActions}>
      <IconButton small label={`Run ${name} now`} icon="play" onClick={() => ask("trigger", row)} />
      <Menu
        label={`More for ${name}`}
        icon="more"
        bare
        small
        kind="quiet"
        items={[
          paused
            ? { label: "Resume", icon: "play", onSelect: () => ask("resume", row) }
            : { label: "Pause", icon: "pause", onSelect: () => ask("pause", row) },
          { label: "Delete", icon: "trash", danger: true, onSelect: () => ask("delete", row) },
        ]}
      />
    </span>
  );
}
