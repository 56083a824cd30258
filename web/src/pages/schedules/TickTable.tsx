import type { ReactNode } from "react";
import { Table } from "~/components/Table";
import { Time } from "~/components/Time";
import { Marks } from "./Marks";
import styles from "./schedules.module.css";
import type { Tick } from "./types";
import { formatWall } from "./zones";

interface TickTableProps {
  label: string;
  ticks: readonly Tick[] | undefined;
  tz: string;
  empty?: ReactNode;
  skeleton?: number;
}

/** Ticks to come, by the schedule's own clock: that is the one its rule is written for. */
export function TickTable({ label, ticks, tz, empty, skeleton }: TickTableProps) {
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
              {formatWall(new Date(tick.at), tz)}
            </span>
          ),
        },
        {
          id: "in",
          head: "Runs",
          wide: true,
          cell: (tick) => (tick.skipped ? "not" : <Time at={tick.run_at} />),
        },
        { id: "effects", head: "What changes it", grow: true, cell: (tick) => <Marks tick={tick} detail /> },
      ]}
    />
  );
}
