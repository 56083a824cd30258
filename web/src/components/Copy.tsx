import { useEffect, useState } from "react";
import { IconButton } from "./Button";
import styles from "./Copy.module.css";

/** A small button that puts `text` on the clipboard. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void copyText(text).then(setCopied);
  return (
    <IconButton small icon={copied ? "check" : "copy"} label={copied ? "Copied" : label} onClick={copy} />
  );
}

/** A command to run in a terminal, with its copy button. */
export function Command({ text, label = "Copy the command" }: { text: string; label?: string }) {
  return (
    <div className={styles.command}>
      <code>{text}</code>
      <Copy text={text} label={label} />
    </div>
  );
}

/** The clipboard's own API exists only on https and localhost; elsewhere the old way does it. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
