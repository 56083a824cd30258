import { Fields, Select, TextField } from "~/components/Field";
import { Panel } from "~/components/Page";
import { MISSED, OVERLAPS } from "../words";
import { choicesOf } from "./choices";
import type { Part } from "./Editor";

/** What becomes of ticks that overlap or were missed. */
export function PolicyFields({ form, set, error }: Part) {
  return (
    <Panel title="Overlap and missed ticks">
      <Fields columns={2}>
        <Select
          label="While an earlier run goes on"
          value={form.overlap}
          error={error("overlap")}
          choices={choicesOf(OVERLAPS)}
          onChange={(overlap) => set({ overlap: overlap as typeof form.overlap })}
        />
        <Select
          label="Missed ticks"
          value={form.missed}
          error={error("missed")}
          hint="Those that nobody saw to within a minute: no server ran, or it was paused."
          choices={choicesOf(MISSED)}
          onChange={(missed) => set({ missed: missed as typeof form.missed })}
        />
        {form.missed === "all" && (
          <TextField
            label="How many at most"
            inputMode="numeric"
            value={form.missed_limit}
            error={error("missed_limit")}
            onChange={(missed_limit) => set({ missed_limit })}
          />
        )}
        {form.missed === "window" && (
          <TextField
            label="No later than"
            mono
            value={form.missed_window}
            error={error("missed_window")}
            onChange={(missed_window) => set({ missed_window })}
          />
        )}
      </Fields>
    </Panel>
  );
}
