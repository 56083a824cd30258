import type { ReactNode } from "react";
import { ApiError } from "~/api/error";
import { safeText } from "~/lib/text";
import { Button } from "./Button";
import { Icon, type IconName } from "./Icon";
import styles from "./Note.module.css";

export type NoteTone = "info" | "warn" | "danger" | "good";

const ICONS: Record<NoteTone, IconName> = { info: "info", warn: "warn", danger: "warn", good: "check" };

/** A remark beside content, in one of four tones. */
export function Note({ tone = "info", title, action, children }: NoteProps) {
  return (
    <div className={`${styles.note} ${styles[tone]}`} role={tone === "danger" ? "alert" : undefined}>
      <Icon name={ICONS[tone]} />
      <div className={styles.words}>
        {title && <strong>{title}</strong>}
        {children && <div>{children}</div>}
      </div>
      {action}
    </div>
  );
}

interface NoteProps {
  tone?: NoteTone;
  title?: string;
  action?: ReactNode;
  children?: ReactNode;
}

/** What went wrong and what to do. `retry`, for what was only read, gives a button. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof ApiError ? error : undefined;
  // The shell says that the server cannot be reached, and everything is read again when it can.
  if (retry && problem?.code === "unreachable") return null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <Note
      tone="danger"
      title={problem?.problem.title ?? "Something went wrong"}
      action={
        retry && (
          <Button small icon="retry" onClick={retry}>
            Try again
          </Button>
        )
      }
    >
      {safeText(message)} {problem?.advice}
    </Note>
  );
}

/** Where there is nothing yet: says so, and what to do; `command` can be copied. */
export function Empty({ title, children, action, icon = "info" }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <span className={styles.emblem}>
        <Icon name={icon} size={20} />
      </span>
      <strong>{title}</strong>
      {children && <div className={styles.why}>{children}</div>}
      {action}
    </div>
  );
}

interface EmptyProps {
  title: string;
  icon?: IconName;
  action?: ReactNode;
  children?: ReactNode;
}
