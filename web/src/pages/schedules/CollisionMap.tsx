import { zone } from "~/lib/preferences";
import { useStored } from "~/lib/stored";
import { plural } from "~/lib/text";
import { formatClock, formatInstant } from "~/lib/time";
import styles from "./collisions.module.css";
import { cellsOf, firstRow, HOUR, rowCount, shadeOf, stepsOf } from "./minutes";
import type { Forecast } from "./types";

const WIDE = 12;
const HIGH = 14;
const LEFT = 44;
const TOP = 16;

/** A square a minute that has ticks, the darker the fuller. */
export function CollisionMap({ forecast }: { forecast: Forecast }) {
  const [chosen] = useStored(zone);
  const rows = rowCount(forecast);
  const first = firstRow(forecast.since);
  const label = `Ticks of the day ahead by hour and minute; ${forecast.peak} in the fullest minute`;
  return (
    <figure className={styles.figure} aria-label={label}>
      <svg
        className={styles.map}
        viewBox={`0 0 ${LEFT + 60 * WIDE} ${TOP + rows * HIGH}`}
        role="img"
        aria-label={label}
      >
        {[0, 15, 30, 45].map((minute) => (
          <text key={minute} className={styles.axis} x={LEFT + minute * WIDE} y={TOP - 6}>
            :{String(minute).padStart(2, "0")}
          </text>
        ))}
        {Array.from({ length: rows }, (_, row) => new Date(first.getTime() + row * HOUR)).map((hour, row) => (
          <g key={hour.getTime()}>
            <text className={styles.axis} x={0} y={TOP + row * HIGH + HIGH - 4}>
              {formatClock(hour, chosen)}
            </text>
            <rect className={styles.row} x={LEFT} y={TOP + row * HIGH} width={60 * WIDE} height={HIGH - 2} />
          </g>
        ))}
        {cellsOf(forecast).map((cell) => (
          <rect
            key={cell.at.getTime()}
            className={styles.cell}
            x={LEFT + cell.minute * WIDE}
            y={TOP + cell.row * HIGH}
            width={WIDE - 1}
            height={HIGH - 2}
            opacity={cell.shade}
          >
            <title>{`${formatInstant(cell.at, chosen).slice(0, 16)}: ${plural(cell.ticks, "tick")}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption className={styles.legend}>
        Ticks in a minute, up to
        {stepsOf(forecast.peak).map((ticks) => (
          <span key={ticks}>
            <i style={{ opacity: shadeOf(ticks, forecast.peak) }} aria-hidden="true" />
            {ticks}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
