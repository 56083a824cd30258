import { useState } from "react";
import { usePages } from "~/api/hooks";
import { useAllTenants, useMay, useTenant } from "~/api/session";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Empty, ErrorNote } from "~/components/Note";
import { Panel } from "~/components/Page";
import { Pager } from "~/components/Pager";
import { Table } from "~/components/Table";
import { useSearchState } from "~/lib/search";
import { plural } from "~/lib/text";
import { scheduleColumns } from "./columns";
import { type Deed, DeedDialog } from "./deeds";
import { useScheduleHref } from "./links";
import { ScheduleFilter } from "./ScheduleFilter";
import type { Schedule } from "./types";

const PAGE = 50;

export function ScheduleList() {
  const { params, change } = useSearchState();
  const [asked, setAsked] = useState<{ deed: Deed; schedule: Schedule } | null>(null);
  const href = useScheduleHref();
  const mayWrite = useMay("schedules:write");
  const all = useAllTenants();
  const filter = { text: params.get("text"), state: params.get("state"), task: params.get("task") };
  const pages = usePages("/v1/schedules", {
    query: { tenant: useTenant(), ...filter, next: 3, latest: 20, limit: PAGE },
    live: 5,
    every: 30,
  });
  const rows = pages.data?.pages.flatMap((page) => page.items);
  const filtered = Object.values(filter).some(Boolean);
  const ask = mayWrite ? (deed: Deed, schedule: Schedule) => setAsked({ deed, schedule }) : undefined;
  return (
    <>
      <ScheduleFilter />
      {pages.error && <ErrorNote error={pages.error} retry={() => void pages.refetch()} />}
      <Panel flush>
        <Table
          label="Schedules"
          columns={scheduleColumns({ all, href, ask })}
          rows={rows}
          failed={pages.error !== null}
          rowKey={(row) => `${row.tenant}/${row.definition.name}`}
          href={(row) => href(row.definition.name, row.tenant)}
          empty={
            filtered ? (
              <Empty
                title="No schedule matches"
                icon="filter"
                action={
                  <Button onClick={() => change({ text: null, state: null, task: null })}>
                    Clear the filter
                  </Button>
                }
              />
            ) : (
              <NoSchedules />
            )
          }
        />
        {rows !== undefined && rows.length > 0 && (
          <Pager
            about={plural(rows.length, "schedule")}
            more={pages.hasNextPage}
            busy={pages.isFetchingNextPage}
            onMore={() => void pages.fetchNextPage()}
          />
        )}
      </Panel>
      {asked && <DeedDialog deed={asked.deed} schedule={asked.schedule} onClose={() => setAsked(null)} />}
    </>
  );
}

function NoSchedules() {
  return (
    <Empty title="There are no schedules yet" icon="schedules">
      <p>
        Make one here, declare it in code and run <code>horae apply</code>, or use the command line:
      </p>
      <Command text={'horae schedule create nightly TASK --cron "0 3 * * *" --tz Europe/Berlin'} />
    </Empty>
  );
}
