import { useMemo, useState } from "react";
import { classes } from "~/lib/classes";
import { cut, formatCount, safeText } from "~/lib/text";
import { Button } from "./Button";
import { Copy } from "./Copy";
import styles from "./Json.module.css";

const FIRST = 6000;

/** Any JSON value, laid out and coloured; long ones are cut with "show all". */
export function Json({ value, label }: { value: unknown; label: string }) {
  const [all, setAll] = useState(false);
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? "undefined", [value]);
  const shown = all ? text : cut(text, FIRST);
  const parts = useMemo(() => tokens(shown), [shown]);
  return (
    <section className={styles.json} aria-label={label}>
      <div className={styles.copy}>
        <Copy text={text} label={`Copy ${label}`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={styles.pre} tabIndex={0}>
        {parts.map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
          <span key={at} className={classes(part.kind !== "other" && styles[part.kind])}>
            {safeText(part.text)}
          </span>
        ))}
      </pre>
      {shown.length < text.length && (
        <Button small kind="quiet" onClick={() => setAll(true)}>
          Show all {formatCount(text.length)} characters
        </Button>
      )}
    </section>
  );
}

interface Token {
  kind: "name" | "string" | "number" | "word" | "other";
  text: string;
}

const TOKEN = /("(?:[^"\\]|\\.)*"?)(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/** Splits laid-out JSON, which may be cut short, into what is coloured and what is not. */
export function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > at) found.push({ kind: "other", text: text.slice(at, match.index) });
    const [whole, quoted, colon, number] = match;
    if (quoted !== undefined) {
      found.push({ kind: colon === undefined ? "string" : "name", text: quoted });
      if (colon !== undefined) found.push({ kind: "other", text: colon });
    } else found.push({ kind: number === undefined ? "word" : "number", text: whole });
    at = match.index + whole.length;
  }
  if (at < text.length) found.push({ kind: "other", text: text.slice(at) });
  return found;
}
