import { useApi } from "~/api/hooks";
import { Button, IconButton } from "~/components/Button";
import { Checkbox, Fields, Select, TextField } from "~/components/Field";
import { Panel } from "~/components/Page";
import { safeText } from "~/lib/text";
import { FOLDS, GAPS, ON_BLOCKED, OUTSIDE } from "../words";
import { choicesOf } from "./choices";
import type { Part } from "./Editor";
import styles from "./editor.module.css";
import { newWindow, type WindowForm } from "./form";

/** Clock changes, holidays and times of day at which it may not fire. */
export function ExceptionFields(part: Part) {
  const { form, set, error } = part;
  return (
    <Panel title="Clock changes, calendars, windows">
      <div className={styles.stack}>
        <Fields columns={2}>
          <Select
            label="A time that the clock jumps over"
            value={form.gap}
            error={error("gap")}
            choices={choicesOf(GAPS)}
            onChange={(gap) => set({ gap: gap as typeof form.gap })}
          />
          <Select
            label="A time that happens twice"
            value={form.fold}
            error={error("fold")}
            choices={choicesOf(FOLDS)}
            onChange={(fold) => set({ fold: fold as typeof form.fold })}
          />
        </Fields>
        <CalendarFields {...part} />
        <WindowFields {...part} />
      </div>
    </Panel>
  );
}

function CalendarFields({ form, set, error, tenant }: Part) {
  const found = useApi("/v1/calendars", { query: { tenant } }).data?.items ?? [];
  const names = [...new Set([...found.map((each) => each.definition.name), ...form.calendars])];
  const put = (name: string, on: boolean) =>
    set({ calendars: on ? [...form.calendars, name] : form.calendars.filter((each) => each !== name) });
  return (
    <>
      <fieldset className={styles.group}>
        <legend>Calendars whose days are blocked</legend>
        {names.length === 0 ? (
          <p className={styles.hint}>
            There are none yet; `horae calendar put holidays --country DE` makes one of public holidays.
          </p>
        ) : (
          <div className={styles.choices}>
            {names.map((name) => (
              <Checkbox
                key={name}
                label={safeText(name)}
                checked={form.calendars.includes(name)}
                onChange={(on) => put(name, on)}
              />
            ))}
          </div>
        )}
        {error("calendars") && <p className={styles.error}>{error("calendars")}</p>}
      </fieldset>
      {form.calendars.length > 0 && (
        <Select
          label="On a blocked day"
          value={form.on_blocked}
          error={error("on_blocked")}
          choices={choicesOf(ON_BLOCKED)}
          onChange={(on_blocked) => set({ on_blocked: on_blocked as typeof form.on_blocked })}
        />
      )}
    </>
  );
}

function WindowFields({ form, set, error }: Part) {
  const put = (key: number, change: Partial<WindowForm>) =>
    set({ windows: form.windows.map((each) => (each.key === key ? { ...each, ...change } : each)) });
  return (
    <>
      <fieldset className={styles.group}>
        <legend>Windows in which it may fire</legend>
        {form.windows.map(({ key, days, start, end }, at) => (
          <div key={key} className={styles.item}>
            <Fields columns={3}>
              <TextField
                label={`Days of window ${at + 1}`}
                mono
                value={days}
                placeholder="every day"
                error={error(`windows[${at}]`)}
                onChange={(value) => put(key, { days: value })}
              />
              <TextField
                label={`Start of window ${at + 1}`}
                mono
                value={start}
                onChange={(value) => put(key, { start: value })}
              />
              <TextField
                label={`End of window ${at + 1}`}
                mono
                value={end}
                onChange={(value) => put(key, { end: value })}
              />
            </Fields>
            <IconButton
              label={`Remove window ${at + 1}`}
              icon="trash"
              onClick={() => set({ windows: form.windows.filter((each) => each.key !== key) })}
            />
          </div>
        ))}
        {error("windows") && <p className={styles.error}>{error("windows")}</p>}
        <div className={styles.buttons}>
          <Button small icon="plus" onClick={() => set({ windows: [...form.windows, newWindow()] })}>
            Add a window
          </Button>
        </div>
      </fieldset>
      {form.windows.length > 0 && (
        <Select
          label="A tick outside all windows"
          value={form.outside}
          error={error("outside")}
          choices={choicesOf(OUTSIDE)}
          onChange={(outside) => set({ outside: outside as typeof form.outside })}
        />
      )}
    </>
  );
}
