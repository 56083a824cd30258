import { type ReactNode, useState } from "react";
import { formatCount, plural } from "~/lib/text";
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

const PAGE = 100;

/** Of rows that are all there, those to draw, and the foot of the list: thousands drawn with each pulse freeze a page. */
export function useFirst<R>(
  rows: readonly R[] | undefined,
  thing: string,
): { drawn: R[] | undefined; pager: ReactNode } {
  const [shown, setShown] = useState(PAGE);
  const count = rows?.length ?? 0;
  return {
    drawn: rows?.slice(0, shown),
    pager: count > PAGE && (
      <Pager
        about={`${formatCount(Math.min(shown, count))} of ${plural(count, thing)}`}
        more={shown < count}
        onMore={() => setShown(shown + PAGE)}
      />
    ),
  };
}
