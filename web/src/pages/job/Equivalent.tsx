import { Command } from "~/components/Copy";
import { shellWords } from "~/lib/shell";
import styles from "./Job.module.css";

/** The same deed by the command line and by curl, to copy. */
export function Equivalent({ cli, curl }: { cli: readonly string[]; curl: string }) {
  return (
    <details className={styles.equivalent}>
      <summary>The same in a terminal</summary>
      <Command text={shellWords(cli)} label="Copy the command" />
      <Command text={curl} label="Copy the curl command" />
    </details>
  );
}
