import { useEffect, useMemo, useState } from "react";
import { useHistoryState } from "wouter/use-browser-location";
import { useAllTenants, useMay, useTenant } from "~/api/session";
import type { Job } from "~/api/types";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Empty, ErrorNote } from "~/components/Note";
import { Page } from "~/components/Page";
import { type Selection, Table } from "~/components/Table";
import { Time } from "~/components/Time";
import { zone } from "~/lib/preferences";
import { useSearchState } from "~/lib/search";
import { shellWords } from "~/lib/shell";
import { useStored } from "~/lib/stored";
import { useHref } from "~/shell/navigation";
import { BulkBar } from "./BulkBar";
import { asShown } from "./bulk";
import { chosenColumns } from "./columns";
import { FilterBar } from "./FilterBar";
import { cliArguments, inLine, isEmpty, isReadable, momentOf, readFilter } from "./filter";
import styles from "./Jobs.module.css";
import { ListTools } from "./ListTools";
import { useHeldList } from "./useHeldList";

const PAGE = 50;
/** The state of an entry of the history: the one before it is the page of newer jobs. A shared address has none. */
const FROM_NEWER = "from the page of newer jobs";
const NOTHING: ReadonlySet<string> = new Set();
const NO_JOBS: Job[] = [];

export default function Jobs() {
  const { params, change } = useSearchState();
  const tenant = useTenant();
  const tenants = useAllTenants();
  const href = useHref();
  const [chosenZone] = useStored(zone);
  const filter = useMemo(() => readFilter(params, chosenZone), [params, chosenZone]);
  const readable = isReadable(filter);
  const cursor = params.get("cursor") ?? undefined;
  const fromNewer = useHistoryState() === FROM_NEWER;
  const line = inLine(filter);
  const chosen = useChosen(`${tenant} ${JSON.stringify(filter)}`);
  const selected = chosen.size > 0;
  const held = useHeldList({ filter, tenant, cursor, limit: PAGE, enabled: readable, selected });
  const { list } = held;
  const columns = useMemo(() => chosenColumns(params.get("columns"), tenants), [params, tenants]);
  const jobs = readable ? list.data?.items : NO_JOBS;
  const next = readable ? list.data?.next : undefined;
  const mayAct = useMay("jobs:control");
  return (
    <Page title="Jobs">
      <FilterBar filter={filter} tools={<ListTools filter={filter} />} />
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      <div className={styles.listed} {...held.around}>
        <section className={styles.card} aria-label="Jobs that match" {...held.rows}>
          <Table
            label="Jobs"
            columns={columns}
            rows={jobs}
            rowKey={(job) => job.id}
            rowName={(job) => `${job.task} ${job.id}`}
            href={(job) => href(`/jobs/${job.id}`)}
            selection={mayAct ? chosen.selection(jobs) : undefined}
            skeleton={12}
            failed={list.error !== null}
            empty={readable ? <NothingHere filter={filter} tenant={tenant} next={next} /> : <Unreadable />}
          />
        </section>
        <Pager
          jobs={jobs}
          next={next}
          cursor={cursor}
          back={cursor !== undefined && fromNewer}
          line={line}
          fresh={held.fresh}
          onNewest={() => {
            held.release();
            change({ cursor: null });
          }}
          onOlder={(next) => change({ cursor: next }, true, FROM_NEWER)}
        />
      </div>
      {mayAct && selected && (
        <BulkBar
          filter={filter}
          chosen={chosen.jobs(jobs)}
          elsewhere={chosen.elsewhere(jobs)}
          onClear={chosen.clear}
        />
      )}
    </Page>
  );
}

/** What is selected of a filter, on whatever page, with the jobs themselves: they may have left the list since. */
function useChosen(list: string) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Job>>(new Map());
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list is another selection
  useEffect(() => setChosen(new Map()), [list]);
  return {
    size: chosen.size,
    /** With a page as it is now. */
    jobs: (page: Job[] = NO_JOBS) => asShown(chosen.values(), page),
    /** Among the jobs of a page. */
    selection: (page: Job[] = NO_JOBS): Selection => ({
      selected: chosen.size === 0 ? NOTHING : new Set(chosen.keys()),
      onChange: (keys) => {
        const known = new Map([...chosen, ...page.map((job): [string, Job] => [job.id, job])]);
        setChosen(
          new Map([...keys].flatMap((key) => (known.has(key) ? [[key, known.get(key) as Job]] : []))),
        );
      },
    }),
    /** How many are not on a page. */
    elsewhere: (page: Job[] = NO_JOBS) => chosen.size - page.filter((job) => chosen.has(job.id)).length,
    clear: () => setChosen(new Map()),
  };
}

interface PagerProps {
  jobs: Job[] | undefined;
  next: string | undefined;
  cursor: string | undefined;
  /** The way back leads to the page before. */
  back: boolean;
  /** In the order in which they stand. */
  line: boolean;
  fresh: boolean;
  onNewest: () => void;
  onOlder: (cursor: string) => void;
}

function Pager({ jobs, next, cursor, back, line, fresh, onNewest, onOlder }: PagerProps) {
  const short = jobs !== undefined && jobs.length < PAGE && next !== undefined;
  return (
    <nav className={styles.pager} aria-label="Pages">
      <span className={styles.pagerWords} aria-live="polite">
        {fresh && (
          <Button small kind="primary" icon="up" onClick={onNewest}>
            Show newer jobs
          </Button>
        )}
        {short && line && "There may be more."}
        {short && !line && (
          <>
            Looked back to <Time at={momentOf(next).toISOString()} show="exact" />; there may be more.
          </>
        )}
      </span>
      <Button small icon="left" disabled={!back} onClick={() => window.history.back()}>
        {line ? "Back" : "Newer"}
      </Button>
      <Button small disabled={!cursor} onClick={onNewest}>
        {line ? "First" : "Newest"}
      </Button>
      <Button small disabled={!next} onClick={() => next && onOlder(next)}>
        {short ? "Look further" : line ? "Next" : "Older"}
      </Button>
    </nav>
  );
}

function Unreadable() {
  return (
    <Empty title="A filter cannot be read" icon="filter">
      Its field says what is wrong. Until then nothing is listed, for it would be more than was asked for.
    </Empty>
  );
}

function NothingHere({ filter, tenant, next }: NothingProps) {
  const { change } = useSearchState();
  if (next !== undefined && inLine(filter)) {
    return (
      <Empty title="None among the first" icon="search">
        None of those that stand first match. Look further below.
      </Empty>
    );
  }
  if (next !== undefined) {
    return (
      <Empty title="None among the newest" icon="search">
        None of the jobs made since <Time at={momentOf(next).toISOString()} show="exact" /> match. Look
        further below.
      </Empty>
    );
  }
  if (isEmpty(filter)) {
    return (
      <Empty title="There are no jobs yet" icon="jobs">
        Submit one from the Tasks page, from Python, or like this:
        <Command text="horae submit TASK --param name=value" />
      </Empty>
    );
  }
  const clear = () =>
    change({
      status: null,
      task: null,
      queue: null,
      user: null,
      worker: null,
      label: null,
      since: null,
      until: null,
      text: null,
      cause: null,
      cursor: null,
    });
  return (
    <Empty title="No job matches" icon="filter" action={<Button onClick={clear}>Clear the filter</Button>}>
      The same question in a terminal:
      <Command text={shellWords(["horae", "jobs", ...cliArguments(filter, tenant)])} />
    </Empty>
  );
}

interface NothingProps {
  filter: ReturnType<typeof readFilter>;
  tenant: string | undefined;
  next: string | undefined;
}
