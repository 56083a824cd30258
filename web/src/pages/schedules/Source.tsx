import { Command } from "~/components/Copy";
import { Json } from "~/components/Json";
import { Panel } from "~/components/Page";
import styles from "./schedules.module.css";
import type { Schedule } from "./types";

/** The definition as the API has it, and how to get and put it without the console. */
export function Source({ schedule }: { schedule: Schedule }) {
  const { name } = schedule.definition;
  const path = `/v1/schedules/${encodeURIComponent(name)}`;
  return (
    <Panel title="Definition">
      <div className={styles.stack}>
        <Json value={schedule.definition} label="the definition" />
        <Command text={`horae schedule show ${name} --json`} />
        <Command text={`curl -H "Authorization: Bearer $HORAE_KEY" "${window.location.origin}${path}"`} />
      </div>
    </Panel>
  );
}
