import { Fields, TextField } from "~/components/Field";
import { Panel } from "~/components/Page";
import { knownZone, zoneNames } from "../zones";
import type { Part } from "./Editor";
import styles from "./editor.module.css";
import { InstantField } from "./InstantField";
import { RulesFields } from "./RulesFields";

/** Rules, zone and bounds. */
export function TimingFields(part: Part) {
  const { form, set, error } = part;
  return (
    <Panel title="When">
      <div className={styles.stack}>
        <RulesFields {...part} />
        <Fields columns={3}>
          <TextField
            label="Zone of the rules"
            value={form.tz}
            options={zoneNames()}
            error={error("tz")}
            hint={knownZone(form.tz) ? undefined : "This browser does not know it: times are shown in UTC."}
            onChange={(tz) => set({ tz })}
          />
          <InstantField
            label="Not before"
            value={form.starts_at}
            error={error("starts_at")}
            onChange={(starts_at) => set({ starts_at })}
          />
          <InstantField
            label="Not after"
            value={form.ends_at}
            error={error("ends_at")}
            onChange={(ends_at) => set({ ends_at })}
          />
          <TextField
            label="Jitter"
            mono
            value={form.jitter}
            placeholder="none"
            hint="The longest delay of a tick, such as 30s."
            error={error("jitter")}
            onChange={(jitter) => set({ jitter })}
          />
          <TextField
            label="Ends after runs"
            inputMode="numeric"
            value={form.max_runs}
            placeholder="never"
            error={error("max_runs")}
            onChange={(max_runs) => set({ max_runs })}
          />
        </Fields>
      </div>
    </Panel>
  );
}
