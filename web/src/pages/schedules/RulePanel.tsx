import { Link } from "wouter";
import { useMay } from "~/api/session";
import { Facts } from "~/components/Facts";
import { Panel } from "~/components/Page";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { formatCount, safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import styles from "./schedules.module.css";
import type { Rule, Schedule } from "./types";
import { durationWords, sentences } from "./words";

/** The definition in words. */
export function RulePanel({ schedule }: { schedule: Schedule }) {
  const it = schedule.definition;
  const mayTasks = useMay("tasks:read");
  const href = useHref();
  return (
    <Panel title="When and what">
      <div className={styles.stack}>
        <ul>
          {(it.rules ?? []).map((rule, at) => (
            <li key={ruleText(rule)} className={styles.rule}>
              <code>{safeText(ruleText(rule))}</code>
              {schedule.words[at] !== ruleText(rule) && <span>{safeText(schedule.words[at] ?? "")}</span>}
            </li>
          ))}
        </ul>
        <Facts
          items={[
            [
              "Task",
              mayTasks ? (
                <Link
                  key="task"
                  href={href(`/tasks/${encodeURIComponent(it.task)}`, { tenant: schedule.tenant })}
                >
                  {safeText(it.task)}
                </Link>
              ) : (
                <Text key="task" value={it.task} />
              ),
            ],
            ["Zone", `${it.tz ?? "UTC"}${schedule.tzdata ? ` (zones of ${schedule.tzdata})` : ""}`],
            ["Next", <Time key="next" at={schedule.next_run_at} show="both" />],
            ["Runs so far", formatCount(schedule.runs)],
            ...sentences(it).map(([name, words]) => [name, safeText(words)] as const),
            it.starts_at ? ["Not before", <Time key="starts" at={it.starts_at} show="both" />] : null,
            it.ends_at ? ["Not after", <Time key="ends" at={it.ends_at} show="both" />] : null,
            schedule.paused_at ? ["Paused", <Time key="paused" at={schedule.paused_at} show="both" />] : null,
            [
              "Changed",
              <span key="changed">
                <Time at={schedule.changed_at} /> by {safeText(schedule.changed_by)}, version{" "}
                {schedule.version}
              </span>,
            ],
          ]}
        />
      </div>
    </Panel>
  );
}

function ruleText(rule: Rule): string {
  if (rule.cron) return rule.cron;
  return `every ${durationWords(rule.every ?? "")}${rule.anchor ? ` from ${rule.anchor}` : ""}`;
}
