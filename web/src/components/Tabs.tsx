import { type ReactNode, useId } from "react";
import { classes } from "~/lib/classes";
import styles from "./Tabs.module.css";

export interface Tab {
  id: string;
  label: string;
  count?: number;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  current: string;
  onChange: (id: string) => void;
  /** What the chosen tab shows. */
  children: ReactNode;
}

/** Parts of one thing, one at a time. Keep `current` in the query string. Arrow keys move. */
export function Tabs({ label, tabs, current, onChange, children }: TabsProps) {
  const id = useId();
  return (
    <div className={styles.tabs}>
      <div
        role="tablist"
        aria-label={label}
        className={styles.list}
        onKeyDown={(event) => moveInTabs(event.nativeEvent)}
      >
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === current ? 0 : -1}
            className={styles.tab}
            onClick={() => onChange(tab.id)}
          >
            {tab.label}
            {tab.count !== undefined && <span className={styles.count}>{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`} className={styles.panel}>
        {children}
      </div>
    </div>
  );
}

function moveInTabs(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const tab = event.target as HTMLElement;
  if (step === undefined || tab.parentElement === null) return;
  const all = [...tab.parentElement.children] as HTMLElement[];
  const next = all[(all.indexOf(tab) + step + all.length) % all.length];
  event.preventDefault();
  next?.focus();
  next?.click();
}

interface SegmentsProps<V extends string> {
  label: string;
  choices: readonly { value: V; label: string }[];
  value: V;
  onChange: (value: V) => void;
}

/** One of a few, side by side: a range of time, a view. */
export function Segments<V extends string>({ label, choices, value, onChange }: SegmentsProps<V>) {
  return (
    <fieldset className={styles.segments} aria-label={label}>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          className={classes(styles.segment, choice.value === value && styles.on)}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </fieldset>
  );
}
