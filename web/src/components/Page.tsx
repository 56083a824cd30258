import { type ReactNode, useEffect } from "react";
import { Link } from "wouter";
import { classes } from "~/lib/classes";
import { safeText } from "~/lib/text";
import { Icon } from "./Icon";
import styles from "./Page.module.css";

interface PageProps {
  title: string;
  /** Beside the title: a badge, a state. */
  mark?: ReactNode;
  /** One line below the title. */
  about?: ReactNode;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** The list this thing belongs to. */
  back?: { href: string; label: string };
  children: ReactNode;
}

/** The frame of every page: its heading, its buttons, and the title of the tab. */
export function Page({ title, mark, about, actions, back, children }: PageProps) {
  useEffect(() => {
    document.title = `${safeText(title)} · Horae`;
  }, [title]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.titles}>
          {back && (
            <Link href={back.href} className={styles.back}>
              <Icon name="left" size={12} /> {back.label}
            </Link>
          )}
          <div className={styles.title}>
            <h1>{safeText(title)}</h1>
            {mark}
          </div>
          {about && <div className={styles.about}>{about}</div>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  title?: string;
  /** Beside the title, quieter: a count, a unit. */
  note?: ReactNode;
  actions?: ReactNode;
  /** No padding inside: for tables. */
  flush?: boolean;
  children: ReactNode;
}

/** A part of a page with its own heading. */
export function Panel({ title, note, actions, flush, children }: PanelProps) {
  return (
    <section className={styles.panel} aria-label={title}>
      {(title || actions) && (
        <header className={styles.panelHead}>
          {title && <h2>{title}</h2>}
          {note && <span className={styles.note}>{note}</span>}
          {actions && <div className={styles.panelActions}>{actions}</div>}
        </header>
      )}
      <div className={classes(styles.panelBody, flush && styles.flush)}>{children}</div>
    </section>
  );
}

/** Panels side by side; `least` is the width below which they wrap. */
export function Grid({ least = "20rem", children }: { least?: string; children: ReactNode }) {
  return (
    <div
      className={styles.grid}
      style={{ gridTemplateColumns: `repeat(auto-fit, minmax(min(${least}, 100%), 1fr))` }}
    >
      {children}
    </div>
  );
}
