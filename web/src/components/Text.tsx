import { useState } from "react";
import { cut, formatCount, safeText } from "~/lib/text";
import { Button } from "./Button";
import styles from "./Text.module.css";

/** A string from a job, an error or a label: characters that could deceive are shown as their code points. */
export function Text({ value, mono = false }: { value: string; mono?: boolean }) {
  return <bdi className={mono ? styles.mono : undefined}>{safeText(value)}</bdi>;
}

/** For those who listen to the page, where the others see it by its place. */
export function Unseen({ children }: { children: string }) {
  return <span className={styles.unseen}>{children}</span>;
}

/** A long one: wrapped, in mono, cut with "show all". */
export function LongText({ value, most = 4000, label }: { value: string; most?: number; label?: string }) {
  const [all, setAll] = useState(false);
  const shown = all ? value : cut(value, most);
  return (
    <div className={styles.long}>
      <section className={styles.block} aria-label={label}>
        <pre className={styles.pre}>
          <bdi>{safeText(shown)}</bdi>
        </pre>
      </section>
      {shown.length < value.length && (
        <Button small kind="quiet" onClick={() => setAll(true)}>
          Show all {formatCount(value.length)} characters
        </Button>
      )}
    </div>
  );
}
