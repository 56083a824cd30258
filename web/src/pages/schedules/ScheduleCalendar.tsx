import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "~/api/hooks";
import { useTenant } from "~/api/session";
import { Drawer } from "~/components/Dialog";
import { Icon } from "~/components/Icon";
import { ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Skeleton } from "~/components/Skeleton";
import { classes } from "~/lib/classes";
import { useSearchState } from "~/lib/search";
import { plural, safeText } from "~/lib/text";
import { useScheduleHref } from "./links";
import { MonthGrid } from "./MonthGrid";
import { dayWords } from "./month";
import styles from "./month.module.css";
import { ScheduleFilter } from "./ScheduleFilter";
import type { Agenda, AgendaDay, AgendaItem } from "./types";
import { useMonth } from "./useMonth";
import { markWords } from "./words";
import { wallOf } from "./zones";

const ROOM = 4;

/** Which schedules fire on which day of a month, and what clock changes and holidays do to them. */
export function ScheduleCalendar() {
  const { params } = useSearchState();
  const shown = useMonth();
  const [open, setOpen] = useState<string | null>(null);
  const agenda = useApi("/v1/schedules/agenda", {
    query: {
      tenant: useTenant(),
      text: params.get("text"),
      state: params.get("state"),
      task: params.get("task"),
      since: shown.since.toISOString(),
      until: shown.until.toISOString(),
      tz: shown.tz,
    },
    every: 60,
  });
  const days = new Map(agenda.data?.days.map((day) => [day.day, day]));
  const opened = open === null ? undefined : days.get(open);
  return (
    <>
      <ScheduleFilter />
      {agenda.error && <ErrorNote error={agenda.error} retry={() => void agenda.refetch()} />}
      <Panel flush>
        <MonthGrid
          shown={shown}
          onOpen={setOpen}
          day={(name) => {
            const day = days.get(name);
            if (agenda.data === undefined) return <Skeleton width="60%" />;
            return day === undefined ? null : (
              <Entries day={day} tz={shown.tz} onMore={() => setOpen(name)} />
            );
          }}
        />
        {agenda.data && <Foot agenda={agenda.data} />}
      </Panel>
      {opened && (
        <Drawer title={dayWords(opened.day)} open onClose={() => setOpen(null)}>
          <DayList day={opened} tz={shown.tz} />
        </Drawer>
      )}
    </>
  );
}

function Entries({ day, tz, onMore }: { day: AgendaDay; tz: string; onMore: () => void }) {
  const more = day.items.length - ROOM;
  return (
    <div className={styles.entries}>
      {day.items.slice(0, more === 1 ? ROOM + 1 : ROOM).map((item) => (
        <Entry key={`${item.tenant}/${item.schedule}`} item={item} tz={tz} />
      ))}
      {more > 1 && (
        <button type="button" className={styles.more} onClick={onMore}>
          {more} more
        </button>
      )}
    </div>
  );
}

function Entry({ item, tz }: { item: AgendaItem; tz: string }) {
  const href = useScheduleHref();
  const title = [item.detail, ...item.marks.map((mark) => markWords(mark).label)].filter(Boolean).join("\n");
  return (
    <Link
      href={href(item.schedule, item.tenant)}
      className={classes(styles.entry, item.ticks === 0 && styles.skipped)}
      title={safeText(title) || undefined}
    >
      <time dateTime={item.first_at}>{wallOf(new Date(item.first_at), tz).time}</time>
      <span className={styles.what}>{safeText(item.schedule)}</span>
      {item.ticks > 1 && <small>×{item.ticks}</small>}
      {item.marks.length > 0 && (
        <span className={styles.flag}>
          <Icon name="warn" size={12} />
        </span>
      )}
    </Link>
  );
}

function DayList({ day, tz }: { day: AgendaDay; tz: string }) {
  const href = useScheduleHref();
  return (
    <ul className={styles.list}>
      {day.items.map((item) => (
        <li key={`${item.tenant}/${item.schedule}`}>
          <time dateTime={item.first_at}>{wallOf(new Date(item.first_at), tz).time}</time>
          <div>
            <Link href={href(item.schedule, item.tenant)}>{safeText(item.schedule)}</Link>{" "}
            {plural(item.ticks, "tick")}
            {item.skipped > 0 && `, ${item.skipped} skipped`}
            {item.detail && <p className={styles.note}>{safeText(item.detail)}</p>}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Foot({ agenda }: { agenda: Agenda }) {
  const href = useScheduleHref();
  if (agenda.frequent.length === 0 && !agenda.truncated) return null;
  return (
    <div className={styles.foot}>
      {agenda.frequent.length > 0 && (
        <p>
          Many times a day, and not shown above:{" "}
          {agenda.frequent.map(({ schedule, tenant }, at) => (
            <span key={`${tenant}/${schedule}`}>
              {at > 0 && ", "}
              <Link href={href(schedule, tenant)}>{safeText(schedule)}</Link>
            </span>
          ))}
        </p>
      )}
      {agenda.truncated && <p>There is more than fits: filter by name or task.</p>}
    </div>
  );
}
