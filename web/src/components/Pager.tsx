import { Button } from "./Button";
import styles from "./Pager.module.css";

interface PagerProps {
  /** What stands there now, as "50 jobs". */
  about: string;
  more: boolean;
  busy?: boolean;
  onMore: () => void;
}

/** The foot of a list read page by page. */
export function Pager({ about, more, busy, onMore }: PagerProps) {
  return (
    <div className={styles.pager}>
      <span>{about}</span>
      {more && (
        <Button small busy={busy} onClick={onMore}>
          Show more
        </Button>
      )}
    </div>
  );
}
