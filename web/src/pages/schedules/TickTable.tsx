import type { ReactNode } from "react";
import { type Column, Table } from "~/components/Table";
import { Time } from "~/components/Time";
import { Marks } from "./Marks";
import styles from "./schedules.module.css";
import type { Tick } from "./types";
import { effectsOf } from "./words";
import { anySeconds, formatWall } from "./zones";

interface TickTableProps {
  label: string;
  ticks: readonly Tick[] | undefined;
  tz: string;
  empty?: ReactNode;
  skeleton?: number;
}

/** Ticks to come, by the schedule's own clock: that is the one its rule is written for. */
export function TickTable({ label, ticks, tz, empty, skeleton }: TickTableProps) {
  const exact = anySeconds(ticks);
  const changed = ticks?.some((tick) => effectsOf(tick).length > 0) ?? false;
  const runs: Column<Tick> = {
    id: "in",
    head: "Runs",
    wide: changed,
    grow: !changed,
    cell: (tick) => (tick.skipped ? "not" : <Time at={tick.run_at} />),
  };
  const effects: Column<Tick> = {
    id: "effects",
    head: "What changes it",
    grow: true,
    cell: (tick) => <Marks tick={tick} detail />,
  };
  return (
    <Table
      label={label}
      rows={ticks}
      rowKey={(tick) => tick.at}
      skeleton={skeleton}
      empty={empty}
      columns={[
        {
          id: "wall",
          head: tz,
          cell: (tick) => (
            <span className={tick.skipped ? `${styles.wall} ${styles.gone}` : styles.wall}>
              {formatWall(new Date(tick.at), tz, exact)}
            </span>
          ),
        },
        runs,
        ...(changed ? [effects] : []),
      ]}
    />
  );
}
