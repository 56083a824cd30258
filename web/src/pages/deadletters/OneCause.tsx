import { useState } from "react";
import { Link } from "wouter";
import type { Answer } from "~/api/call";
import { usePages } from "~/api/hooks";
import { useMay, useTenant } from "~/api/session";
import type { Job } from "~/api/types";
import { Button } from "~/components/Button";
import { Copy } from "~/components/Copy";
import { Facts } from "~/components/Facts";
import { ShortId } from "~/components/JobParts";
import { Empty, ErrorNote, Note } from "~/components/Note";
import { Page, Panel } from "~/components/Page";
import { Pager } from "~/components/Pager";
import { type Column, Table } from "~/components/Table";
import { Text } from "~/components/Text";
import { Time } from "~/components/Time";
import { useSearchState, withChanges } from "~/lib/search";
import { cut, plural, safeText } from "~/lib/text";
import { useHref } from "~/shell/navigation";
import { FollowAction } from "../actions/Progress";
import { type Cause, type Filter, rangeOf, sinceOf } from "./cause";
import { DeadDialog, type Deed } from "./DeadDialog";
import styles from "./DeadLetters.module.css";
import { LetterDrawer } from "./LetterDrawer";

/** The dead letters that failed in the same way: looked at one by one, run again or discarded together. */
export function OneCause({ cause }: { cause: string }) {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const [since] = useState(() => sinceOf(rangeOf(params.get("range")), new Date()));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<{ deed: Deed; filter: Filter }>();
  const control = useMay("jobs:control");
  const query = { cause, tenant, since, task: params.get("task") };
  const list = usePages("/v1/dead-letters", { query: { ...query, limit: 50 }, live: 5 });
  const causes = list.data?.pages[0]?.causes ?? [];
  const [found] = causes;
  const mayControl = control && causes.length < 2;
  const jobs = list.data?.pages.flatMap((page: Answer<"/v1/dead-letters", "get">) => page.jobs ?? []);
  const whole: Filter = { cause, tenant: tenant ?? found?.tenant, since, task: query.task ?? undefined };
  const href = useHref();
  const back = { href: href("/dead-letters"), label: "Dead letters" };
  const action = params.get("action");
  const job = params.get("job");
  const opened = (each: Job) => `/dead-letters?${withChanges(params, { job: each.id })}`;
  const ask = (deed: Deed, filter: Filter) => setAsked({ deed, filter });
  return (
    <Page
      title={found?.error?.kind ?? "Dead letters of one cause"}
      back={back}
      about={found && `${plural(found.count, "failed job")} of ${found.tasks.map(safeText).join(", ")}`}
      actions={mayControl && found && <CauseDeeds onAsk={(deed) => ask(deed, whole)} />}
    >
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      {action && <FollowAction id={action} onClose={() => change({ action: null })} />}
      {causes.length > 1 && <SeveralTenants causes={causes} />}
      {found && <CauseFacts cause={found} />}
      <Panel title="Jobs" flush>
        {selected.size > 0 && (
          <div className={styles.chosen}>
            <span>{plural(selected.size, "job")} selected</span>
            <Button
              small
              icon="retry"
              onClick={() => ask("redrive", { tenant: whole.tenant, ids: [...selected] })}
            >
              Redrive selected…
            </Button>
            <Button
              small
              icon="trash"
              onClick={() => ask("discard", { tenant: whole.tenant, ids: [...selected] })}
            >
              Discard selected…
            </Button>
            <Button small kind="quiet" onClick={() => setSelected(new Set())}>
              Clear
            </Button>
          </div>
        )}
        <Table
          label="Dead letters"
          columns={columns(opened)}
          rows={jobs}
          failed={list.error !== null}
          rowKey={(each) => each.id}
          href={opened}
          selection={mayControl ? { selected, onChange: setSelected } : undefined}
          empty={
            <Empty title="None of this cause is left" icon="check">
              All of them were run again or discarded. <Link href={back.href}>See the other causes.</Link>
            </Empty>
          }
        />
      </Panel>
      {jobs && jobs.length > 0 && (
        <Pager
          about={`${plural(jobs.length, "job")} shown`}
          more={list.hasNextPage}
          busy={list.isFetchingNextPage}
          onMore={() => void list.fetchNextPage()}
        />
      )}
      {asked && (
        <DeadDialog
          deed={asked.deed}
          filter={asked.filter}
          onClose={() => setAsked(undefined)}
          onMade={(id) => {
            setSelected(new Set());
            change({ action: id });
          }}
        />
      )}
      {job && (
        <LetterDrawer
          id={job}
          onClose={() => change({ job: null })}
          onDiscard={(letter) => ask("discard", { tenant: letter.tenant, ids: [letter.id] })}
        />
      )}
    </Page>
  );
}

function CauseDeeds({ onAsk }: { onAsk: (deed: Deed) => void }) {
  return (
    <>
      <Button icon="trash" onClick={() => onAsk("discard")}>
        Discard…
      </Button>
      <Button icon="retry" kind="primary" onClick={() => onAsk("redrive")}>
        Redrive…
      </Button>
    </>
  );
}

/** Characters of a message that are shown here; each job's own page has all of it. */
const MOST = 2000;

function CauseFacts({ cause }: { cause: Cause }) {
  return (
    <Panel title="Cause">
      <div className={styles.stack}>
        <div className={styles.message}>
          <Text value={cut(cause.error?.message || "It failed without a message", MOST)} />
        </div>
        <Facts
          items={[
            ["First", <Time key="first" at={cause.first_at} show="both" />],
            ["Last", <Time key="last" at={cause.last_at} show="both" />],
            ["Tenant", safeText(cause.tenant)],
            [
              "Fingerprint",
              <span key="cause">
                <code>{cause.cause}</code> <Copy text={cause.cause ?? ""} label="Copy the fingerprint" />
              </span>,
            ],
          ]}
        />
      </div>
    </Panel>
  );
}

/** Each leads where Enter does: the letter has a link to the job's own page. */
const columns = (opened: (job: Job) => string): readonly Column<Job>[] => [
  {
    id: "id",
    head: "Job",
    cell: (job) => (
      <Link href={opened(job)}>
        <ShortId id={job.id} />
      </Link>
    ),
  },
  { id: "task", head: "Task", width: "10rem", wide: true, cell: (job) => <Text value={job.task} /> },
  { id: "error", head: "Error", grow: true, cell: (job) => <Text value={job.error?.message ?? ""} /> },
  {
    id: "attempts",
    head: "Attempts",
    align: "end",
    wide: true,
    width: "6rem",
    cell: (job) => job.attempt ?? 0,
  },
  { id: "failed", head: "Failed", width: "7rem", cell: (job) => <Time at={job.finished_at} /> },
];

/** The same mistake made by several tenants: what is done about it is done for one of them. */
function SeveralTenants({ causes }: { causes: readonly Cause[] }) {
  const href = useHref();
  return (
    <Note title="Several tenants have dead letters of this cause">
      Choose one to act:{" "}
      {causes.map((each) => (
        <Link key={each.tenant} href={href("/dead-letters", { cause: each.cause, tenant: each.tenant })}>
          {safeText(each.tenant)} ({plural(each.count, "job")}){" "}
        </Link>
      ))}
    </Note>
  );
}
