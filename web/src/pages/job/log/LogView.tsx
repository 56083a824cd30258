/**
 * The lines on the screen and a few around them. All have one height, so which they are is a division: a list that
 * measured each of a million rows would take more memory than the log.
 */
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { classes } from "~/lib/classes";
import { safeText } from "~/lib/text";
import { pieces } from "./ansi";
import styles from "./Log.module.css";
import type { Line, Lines } from "./lines";

const HEIGHT = 18;
const AROUND = 20;
/** Chromium and Firefox draw nothing beyond about 17 million pixels: then the last lines win. */
const MOST = 900_000;

export interface LogViewHandle {
  reveal: (line: number) => void;
}

interface LogViewProps {
  ref: Ref<LogViewHandle>;
  lines: Lines;
  version: number;
  from: number;
  until: number;
  needle: string;
  current: number | undefined;
  follow: boolean;
  onFollow: (follow: boolean) => void;
}

export function LogView({ ref, lines, from, until, needle, current, follow, onFollow }: LogViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const [window_, setWindow] = useState({ top: 0, height: 600 });
  const first = Math.max(from, until - MOST);
  const count = until - first;
  const start = Math.max(0, Math.floor(window_.top / HEIGHT) - AROUND);
  const end = Math.min(count, Math.ceil((window_.top + window_.height) / HEIGHT) + AROUND);
  const before = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end is known to the browser only once it is drawn
  useLayoutEffect(() => {
    const element = box.current;
    if (follow && element && count > 0) element.scrollTop = element.scrollHeight;
  }, [follow, count, end]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() =>
      setWindow({ top: element.scrollTop, height: element.clientHeight }),
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useImperativeHandle(ref, () => ({
    reveal: (line) => {
      const element = box.current;
      if (element) element.scrollTop = (line - first) * HEIGHT - element.clientHeight / 2;
    },
  }));
  const scrolled = () => {
    const element = box.current;
    if (!element) return;
    setWindow({ top: element.scrollTop, height: element.clientHeight });
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    const up = element.scrollTop < before.current;
    before.current = element.scrollTop;
    if (follow && up && below > HEIGHT * 3) onFollow(false);
  };
  const shown = Array.from({ length: Math.max(0, end - start) }, (_, index) => first + start + index);
  return (
    <div
      ref={box}
      className={styles.box}
      role="log"
      aria-label="Log"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={scrolled}
    >
      <div className={styles.all} style={{ height: count * HEIGHT }}>
        <div className={styles.window} style={{ transform: `translateY(${start * HEIGHT}px)` }}>
          {shown.map((at) => (
            <LineView
              key={at}
              number={at - first + 1}
              line={lines.line(at)}
              needle={needle}
              current={at === current}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function LineView({
  number,
  line,
  needle,
  current,
}: {
  number: number;
  line: Line;
  needle: string;
  current: boolean;
}) {
  return (
    <div className={classes(styles.line, styles[line.stream], current && styles.current)}>
      <span
        className={styles.number}
        aria-hidden="true"
        data-number={number}
        title={`attempt ${line.attempt}, ${line.stream}`}
      />
      <bdi className={styles.text}>
        {pieces(line.text, line.codes).map((piece, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one line never move
            key={index}
            className={classes(...piece.style.split(" ").map((name) => name && styles[name]))}
            style={piece.colour ? { color: piece.colour } : undefined}
          >
            <Marked text={safeText(piece.text)} needle={needle} />
          </span>
        ))}
      </bdi>
    </div>
  );
}

function Marked({ text, needle }: { text: string; needle: string }) {
  if (needle === "") return text;
  const parts: React.ReactNode[] = [];
  const low = text.toLowerCase();
  const wanted = needle.toLowerCase();
  let at = 0;
  for (let found = low.indexOf(wanted); found >= 0 && parts.length < 200; found = low.indexOf(wanted, at)) {
    parts.push(text.slice(at, found), <mark key={found}>{text.slice(found, found + wanted.length)}</mark>);
    at = found + wanted.length;
  }
  return parts.length === 0 ? text : [...parts, text.slice(at)];
}
