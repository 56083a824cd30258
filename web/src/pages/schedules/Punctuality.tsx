import { fateOf, heightOf, summarise, summaryWords } from "./lateness";
import styles from "./schedules.module.css";
import type { LatestTick } from "./types";

interface PunctualityProps {
  ticks: readonly LatestTick[];
  /** How many ticks there is room for. */
  room?: number;
  width?: number;
  height?: number;
}

/** A bar a tick, oldest first: the higher, the later its job started. Failed ones are capped, skipped ones are rings. */
export function Punctuality({ ticks, room = 20, width = 100, height = 24 }: PunctualityProps) {
  const label = summaryWords(summarise(ticks));
  const step = width / room;
  const shown = ticks.slice(-room);
  const first = room - shown.length;
  return (
    <svg
      className={styles.bars}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <line className={styles.base} x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} />
      {shown.map((tick, at) => (
        <Bar key={tick.at} tick={tick} x={(first + at) * step} step={step} height={height - 2} />
      ))}
    </svg>
  );
}

function Bar({ tick, x, step, height }: { tick: LatestTick; x: number; step: number; height: number }) {
  const fate = fateOf(tick);
  const middle = x + step / 2;
  if (fate === "skipped" || fate === "open") {
    return <circle className={styles[fate]} cx={middle} cy={height - 3} r={Math.min(1.75, step / 2.5)} />;
  }
  const tall = heightOf(tick.late ?? 0) * height;
  const width = Math.max(1, Math.min(step * 0.62, 6));
  return (
    <g className={styles[fate]}>
      <rect
        x={middle - width / 2}
        y={height - tall}
        width={width}
        height={tall}
        rx={Math.min(1, width / 3)}
      />
      {fate === "failed" && (
        <rect x={middle - step * 0.45} y={height - tall} width={step * 0.9} height={1.75} />
      )}
    </g>
  );
}
