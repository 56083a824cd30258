import { Button, IconButton } from "~/components/Button";
import { Select, TextField } from "~/components/Field";
import { Menu } from "~/components/Menu";
import { classes } from "~/lib/classes";
import type { Part } from "./Editor";
import styles from "./editor.module.css";
import { newRule, type RuleForm } from "./form";
import { InstantField } from "./InstantField";

const EXAMPLES: readonly (readonly [string, Partial<RuleForm>])[] = [
  ["Every 15 minutes", { kind: "every", every: "15m" }],
  ["Every hour, at a minute of its own", { kind: "cron", cron: "H * * * *" }],
  ["Every day at 9", { kind: "cron", cron: "0 9 * * *" }],
  ["Monday to Friday at 9", { kind: "cron", cron: "0 9 * * MON-FRI" }],
  ["Every Friday at 10", { kind: "cron", cron: "0 10 * * FRI" }],
  ["On the first of the month", { kind: "cron", cron: "0 6 1 * *" }],
  ["On the last weekday of the month", { kind: "cron", cron: "0 18 LW * *" }],
  ["On the second Monday of the month", { kind: "cron", cron: "0 10 * * MON#2" }],
];

/** Any number of rules, joined: it fires when one of them does. */
export function RulesFields({ form, set, error }: Part) {
  const put = (key: number, change: Partial<RuleForm>) =>
    set({ rules: form.rules.map((rule) => (rule.key === key ? { ...rule, ...change } : rule)) });
  const last = form.rules.at(-1);
  return (
    <fieldset className={styles.group}>
      <legend>Rules</legend>
      <div className={styles.stack}>
        {form.rules.map((rule, at) => (
          <div key={rule.key} className={styles.item}>
            <RuleFields
              rule={rule}
              at={at}
              put={(change) => put(rule.key, change)}
              error={error(`rules[${at}]`)}
            />
            {form.rules.length > 1 && (
              <IconButton
                label={`Remove rule ${at + 1}`}
                icon="trash"
                onClick={() => set({ rules: form.rules.filter((each) => each.key !== rule.key) })}
              />
            )}
          </div>
        ))}
      </div>
      {error("rules") && <p className={styles.error}>{error("rules")}</p>}
      <div className={styles.buttons}>
        <Button small icon="plus" onClick={() => set({ rules: [...form.rules, newRule()] })}>
          Add a rule
        </Button>
        <Menu
          label="Examples"
          small
          align="start"
          items={EXAMPLES.map(([label, rule]) => ({ label, onSelect: () => last && put(last.key, rule) }))}
        />
      </div>
    </fieldset>
  );
}

interface RuleFieldsProps {
  rule: RuleForm;
  at: number;
  put: (change: Partial<RuleForm>) => void;
  error: string | undefined;
}

function RuleFields({ rule, at, put, error }: RuleFieldsProps) {
  const suffix = at === 0 ? "" : ` ${at + 1}`;
  const every = rule.kind === "every";
  return (
    <div className={classes(styles.rule, every && styles.three)}>
      <Select
        label={`Kind of rule${suffix}`}
        value={rule.kind}
        onChange={(kind) => put({ kind: kind as RuleForm["kind"] })}
        choices={[
          { value: "cron", label: "Cron" },
          { value: "every", label: "Interval" },
        ]}
      />
      {every ? (
        <>
          <TextField
            label={`Every${suffix}`}
            mono
            value={rule.every}
            placeholder="15m"
            error={error}
            onChange={(value) => put({ every: value })}
          />
          <InstantField
            label={`Counted from${suffix}`}
            value={rule.anchor}
            onChange={(anchor) => put({ anchor })}
          />
        </>
      ) : (
        <TextField
          label={`Cron expression${suffix}`}
          mono
          value={rule.cron}
          placeholder="0 9 * * MON-FRI"
          hint="Minute, hour, day, month, weekday; L, W, # and H as in docs/schedules.md."
          error={error}
          onChange={(cron) => put({ cron })}
        />
      )}
    </div>
  );
}
