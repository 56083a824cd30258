import type { ReactNode } from "react";
import { Button, IconButton } from "~/components/Button";
import { classes } from "~/lib/classes";
import { useClock } from "~/lib/clock";
import { formatInstant } from "~/lib/time";
import { dayWords, monthWords, weeks } from "./month";
import styles from "./month.module.css";
import type { useMonth } from "./useMonth";

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

interface MonthGridProps {
  shown: ReturnType<typeof useMonth>;
  /** What stands on a day; null leaves it empty. */
  day: (day: string) => ReactNode;
  /** What a click on a day does. */
  onOpen: (day: string) => void;
  /** Beside the buttons. */
  note?: ReactNode;
}

/** A month: weeks from Monday on; on a phone one day below the other, those with something on them. */
export function MonthGrid({ shown, day, onOpen, note }: MonthGridProps) {
  const today = useClock((now) => formatInstant(now, shown.zone).slice(0, 10));
  return (
    <section aria-label={monthWords(shown.month)}>
      <header className={styles.head}>
        <h2 aria-live="polite">{monthWords(shown.month)}</h2>
        <IconButton small label="The month before" icon="left" onClick={() => shown.go(-1)} />
        <IconButton small label="The month after" icon="right" onClick={() => shown.go(1)} />
        <Button small onClick={shown.home}>
          Today
        </Button>
        <span className={styles.note}>{note ?? `Days in ${shown.tz}`}</span>
      </header>
      <div className={styles.weekdays} aria-hidden="true">
        {WEEKDAYS.map((name) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <ol className={styles.days}>
        {weeks(shown.month)
          .flat()
          .map((each, at) =>
            each === null ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: empty places have no other name
              <li key={at} className={styles.none} aria-hidden="true" />
            ) : (
              <DayCell key={each} name={each} today={today} onOpen={onOpen}>
                {day(each)}
              </DayCell>
            ),
          )}
      </ol>
    </section>
  );
}

interface DayProps {
  name: string;
  today: string;
  onOpen: (day: string) => void;
  children: ReactNode;
}

function DayCell({ name, today, onOpen, children }: DayProps) {
  const empty = children === null;
  return (
    <li
      className={classes(
        styles.day,
        name < today && styles.past,
        name === today && styles.today,
        empty && styles.empty,
      )}
    >
      <button
        type="button"
        className={styles.date}
        aria-label={dayWords(name)}
        aria-current={name === today ? "date" : undefined}
        disabled={empty}
        onClick={() => onOpen(name)}
      >
        <span>{Number(name.slice(8))}</span>
      </button>
      <span className={styles.long} aria-hidden="true">
        {dayWords(name)}
      </span>
      {children}
    </li>
  );
}
