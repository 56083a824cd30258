import { useState } from "react";
import { Link } from "wouter";
import { useApi, usePages } from "~/api/hooks";
import type { State } from "~/api/types";
import { Drawer } from "~/components/Dialog";
import { Icon } from "~/components/Icon";
import { ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Pager } from "~/components/Pager";
import { STATES, StateGlyph } from "~/components/StateBadge";
import { classes } from "~/lib/classes";
import { plural, safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { MonthGrid } from "./MonthGrid";
import { dayWords } from "./month";
import styles from "./month.module.css";
import type { AgendaItem, Schedule, TickRecord } from "./types";
import { useMonth } from "./useMonth";
import { markWords } from "./words";
import { wallOf } from "./zones";

const ROOM = 4;
const MOST = 1000;

/**
 * A month of one schedule: what became of the ticks behind us, and what the rule makes of the days ahead. The ticks are
 * read from the latest back, so many at a time; a day that was not reached says so.
 */
export function TickCalendar({ schedule }: { schedule: Schedule }) {
  const shown = useMonth();
  const [open, setOpen] = useState<string | null>(null);
  const { name } = schedule.definition;
  const { tenant } = schedule;
  const href = useHref();
  const now = new Date();
  // To the minute, so that the question stays the same for a while.
  const next = new Date(Math.ceil(now.getTime() / 60_000) * 60_000);
  const since = next > shown.since ? next : shown.since;
  const ahead = useApi("/v1/schedules/agenda", {
    query: {
      tenant,
      schedule: name,
      since: since.toISOString(),
      until: shown.until.toISOString(),
      tz: shown.tz,
    },
    enabled: since < shown.until && schedule.state === "active",
    every: 60,
  });
  const behind = usePages("/v1/schedules/{name}/ticks", {
    path: { name },
    query: { tenant, cursor: shown.until.toISOString(), due: true, limit: MOST },
    enabled: shown.since < now,
    every: shown.until > now ? 15 : undefined,
  });
  const read = shown.since < now ? behind.data?.pages.flatMap((page) => page.items) : [];
  const earliest = read?.at(-1);
  const unread = behind.hasNextPage && earliest && new Date(earliest.at) > shown.since;
  const reached = unread ? wallOf(new Date(earliest.at), shown.tz).day : null;
  const items = new Map(ahead.data?.days.map((day) => [day.day, day.items[0]]));
  const records = byDay(read, shown.since, shown.tz);
  const opened = open === null ? [] : (records.get(open) ?? []);
  return (
    <Panel flush>
      {ahead.error && <ErrorNote error={ahead.error} retry={() => void ahead.refetch()} />}
      {behind.error && <ErrorNote error={behind.error} retry={() => void behind.refetch()} />}
      <MonthGrid
        shown={shown}
        onOpen={setOpen}
        day={(day) => {
          const [record, item] = [records.get(day) ?? [], items.get(day)];
          if (reached !== null && day < reached) return <span className={styles.unread}>not read yet</span>;
          const cut = day === reached;
          if (record.length === 0 && item === undefined && !cut) return null;
          return (
            <div className={styles.entries}>
              {cut && <span className={styles.unread}>earlier ones not read yet</span>}
              <Records records={record} tz={shown.tz} onMore={() => setOpen(day)} />
              {item && <Coming item={item} tz={shown.tz} />}
            </div>
          );
        }}
      />
      {reached !== null && (
        <Pager
          about={`The latest ${plural(read?.length ?? 0, "tick")}, back to ${dayWords(reached)}`}
          more
          busy={behind.isFetchingNextPage}
          onMore={() => void behind.fetchNextPage()}
        />
      )}
      {(ahead.data?.frequent.length ?? 0) > 0 && (
        <p className={styles.foot}>
          It fires too often for its days ahead to be shown here: see the next ticks.
        </p>
      )}
      {open !== null && (
        <Drawer title={dayWords(open)} open onClose={() => setOpen(null)}>
          {reached !== null && open <= reached && (
            <p className={styles.foot}>Not all of this day was read yet: “Show more” is below the month.</p>
          )}
          <ul className={styles.list}>
            {opened.map((tick) => (
              <li key={`${tick.at} ${tick.origin}`}>
                <time dateTime={tick.at}>{wallOf(new Date(tick.at), shown.tz).time}</time>
                <span>
                  {tick.job_id ? (
                    <Link href={href(`/jobs/${tick.job_id}`)}>{tick.job_state}</Link>
                  ) : (
                    fateWords(tick)
                  )}
                </span>
              </li>
            ))}
            {items.get(open) && (
              <li>
                <time>{wallOf(new Date(items.get(open)?.first_at ?? 0), shown.tz).time}</time>
                <span>{comingWords(items.get(open) as AgendaItem)}</span>
              </li>
            )}
          </ul>
        </Drawer>
      )}
    </Panel>
  );
}

function byDay(ticks: readonly TickRecord[] | undefined, since: Date, tz: string): Map<string, TickRecord[]> {
  const days = new Map<string, TickRecord[]>();
  for (const tick of ticks ?? []) {
    const at = new Date(tick.at);
    if (at < since) continue;
    const { day } = wallOf(at, tz);
    days.set(day, [tick, ...(days.get(day) ?? [])]);
  }
  return days;
}

function Records({ records, tz, onMore }: { records: TickRecord[]; tz: string; onMore: () => void }) {
  const more = records.length - ROOM;
  return (
    <>
      {records.slice(0, more === 1 ? ROOM + 1 : ROOM).map((tick) => (
        <Record key={`${tick.at} ${tick.origin}`} tick={tick} tz={tz} />
      ))}
      {more > 1 && (
        <button type="button" className={styles.more} onClick={onMore}>
          {more} more
        </button>
      )}
    </>
  );
}

function Record({ tick, tz }: { tick: TickRecord; tz: string }) {
  const href = useHref();
  const inner = (
    <>
      <time dateTime={tick.at}>{wallOf(new Date(tick.at), tz).time}</time>
      <span className={styles.what}>{fateWords(tick)}</span>
      {STATES.includes(tick.job_state as State) && <StateGlyph state={tick.job_state as State} size={10} />}
    </>
  );
  if (!tick.job_id) return <div className={styles.entry}>{inner}</div>;
  return (
    <Link href={href(`/jobs/${tick.job_id}`)} className={styles.entry}>
      {inner}
    </Link>
  );
}

function fateWords(tick: TickRecord): string {
  if (tick.job_state) return tick.job_state;
  return tick.reason ? markWords(tick.reason).label : tick.state;
}

function Coming({ item, tz }: { item: AgendaItem; tz: string }) {
  return (
    <div
      className={classes(styles.entry, item.ticks === 0 && styles.skipped)}
      title={safeText(item.detail ?? "") || undefined}
    >
      <time dateTime={item.first_at}>{wallOf(new Date(item.first_at), tz).time}</time>
      <span className={styles.what}>{comingWords(item)}</span>
      {item.marks.length > 0 && (
        <span className={styles.flag}>
          <Icon name="warn" size={12} />
        </span>
      )}
    </div>
  );
}

function comingWords(item: AgendaItem): string {
  if (item.ticks === 0) return markWords(item.marks.at(-1) ?? "skipped").label;
  return item.ticks === 1 ? "to come" : `and ${item.ticks - 1} more`;
}
