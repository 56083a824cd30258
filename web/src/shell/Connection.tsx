import { useEffect, useRef, useState } from "react";
import { Button } from "~/components/Button";
import { useConnection } from "~/live/hooks";
import { stream } from "~/live/pulse";
import styles from "./Connection.module.css";

const GRACE = 1500;
const SAID = 4000;

type Shown = "nothing" | "lost" | "back";

/** Says when the server cannot be reached, and when it can again. A blink is not worth a word. */
export function ConnectionBanner() {
  const connection = useConnection();
  const [shown, setShown] = useState<Shown>("nothing");
  const current = useRef<Shown>("nothing");
  current.current = shown;
  useEffect(() => {
    if (connection === "lost") {
      const timer = setTimeout(() => setShown("lost"), GRACE);
      return () => clearTimeout(timer);
    }
    if (connection !== "live" || current.current !== "lost") return;
    setShown("back");
    const timer = setTimeout(() => setShown("nothing"), SAID);
    return () => clearTimeout(timer);
  }, [connection]);
  return (
    <div
      role="status"
      aria-live="polite"
      className={shown === "nothing" ? styles.hidden : `${styles.banner} ${styles[shown]}`}
    >
      {shown === "lost" && (
        <>
          <span>The server does not answer: what you see may be old. Trying again by itself.</span>
          <Button small onClick={stream.retryNow}>
            Try now
          </Button>
        </>
      )}
      {shown === "back" && <span>Connected again; everything is up to date.</span>}
    </div>
  );
}

const WORDS = { live: "Live", lost: "Not connected", connecting: "Connecting" };

/** A small mark: is what one sees live? */
export function ConnectionMark() {
  const connection = useConnection();
  return (
    <span
      className={`${styles.mark} ${styles[connection]}`}
      title={`Updates: ${WORDS[connection].toLowerCase()}`}
    >
      <span className={styles.dot} aria-hidden="true" />
      {WORDS[connection]}
    </span>
  );
}
