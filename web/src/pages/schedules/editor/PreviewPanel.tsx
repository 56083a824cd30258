import { Note } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { Time } from "~/components/Time";
import { classes } from "~/lib/classes";
import { safeText } from "~/lib/text";
import { Marks } from "../Marks";
import type { Tick } from "../types";
import { effectsOf } from "../words";
import { anySeconds, formatWall } from "../zones";
import styles from "./editor.module.css";
import type { DraftPreview } from "./usePreview";

const SHOWN = 12;
const LATER = 6;

/** The next runs as one types, and what clock changes and holidays do further on. */
export function PreviewPanel({
  preview,
  tz,
  rest,
}: {
  preview: DraftPreview;
  tz: string;
  rest: readonly string[];
}) {
  const { words, ticks, stale } = preview;
  const later = ticks.slice(SHOWN).filter((tick) => effectsOf(tick).length > 0);
  return (
    <Panel title="The next runs" note={`in ${tz}`}>
      <div className={styles.preview} aria-live="polite" aria-busy={stale || undefined}>
        {rest.map((detail) => (
          <Note key={detail} tone="danger">
            {safeText(detail)}
          </Note>
        ))}
        <p className={styles.words}>
          {words.length > 0 ? words.map(safeText).join("; ") : <Skeleton width="70%" />}
        </p>
        <Ticks label="The next runs" ticks={ticks.slice(0, SHOWN)} tz={tz} stale={stale} />
        {later.length > 0 && (
          <>
            <h3>Further on</h3>
            <Ticks label="Effects further on" ticks={later.slice(0, LATER)} tz={tz} stale={stale} />
          </>
        )}
      </div>
    </Panel>
  );
}

interface TicksProps {
  label: string;
  ticks: readonly Tick[];
  tz: string;
  stale: boolean;
}

function Ticks({ label, ticks, tz, stale }: TicksProps) {
  const exact = anySeconds(ticks);
  return (
    <ol className={classes(styles.ticks, stale && styles.stale)} aria-label={label}>
      {ticks.map((tick) => (
        <li key={tick.at}>
          <span className={classes(styles.wall, tick.skipped && styles.gone)}>
            {formatWall(new Date(tick.at), tz, exact)}
          </span>
          <span className={styles.relative}>{tick.skipped ? "" : <Time at={tick.run_at} />}</span>
          {effectsOf(tick).length > 0 && (
            <span className={styles.effect}>
              <Marks tick={tick} detail />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}
