import { useCallback, useEffect, useMemo, useState } from "react";
import { client } from "~/api/client";
import { useAllTenants, useMay, useTenant } from "~/api/session";
import type { Job } from "~/api/types";
import { Button } from "~/components/Button";
import { Command } from "~/components/Copy";
import { Empty, ErrorNote } from "~/components/Note";
import { Page } from "~/components/Page";
import { type Selection, Table } from "~/components/Table";
import { Time } from "~/components/Time";
import { useSearchState } from "~/lib/search";
import { shellWords } from "~/lib/shell";
import { usePulse } from "~/live/hooks";
import { keepTenant } from "~/shell/navigation";
import { BulkBar } from "./BulkBar";
import { chosenColumns } from "./columns";
import { FilterBar } from "./FilterBar";
import { cliArguments, cursorAbove, inLine, isEmpty, momentOf, readFilter } from "./filter";
import styles from "./Jobs.module.css";
import { ListTools } from "./ListTools";
import { LIST_KEY, useJobList } from "./useJobList";

const PAGE = 50;
const NOTHING: ReadonlySet<string> = new Set();

export default function Jobs() {
  const { params, change } = useSearchState();
  const tenant = useTenant();
  const tenants = useAllTenants();
  const filter = useMemo(() => readFilter(params), [params]);
  const cursor = params.get("cursor") ?? undefined;
  const line = inLine(filter);
  const hold = useHold(line);
  const list = useJobList({ filter, tenant, cursor: cursor ?? hold.cursor, limit: PAGE, live: !hold.still });
  const columns = useMemo(() => chosenColumns(params.get("columns"), tenants), [params, tenants]);
  const jobs = list.data?.items;
  const chosen = useChosen(`${params}`, jobs);
  const mayAct = useMay("jobs:control");
  const held = chosen.selection.selected.size > 0;
  useEffect(() => hold.keep(held), [hold.keep, held]);
  return (
    <Page title="Jobs">
      <FilterBar filter={filter} />
      <ListTools filter={filter} />
      {list.error && <ErrorNote error={list.error} retry={() => void list.refetch()} />}
      <div className={styles.listed} onPointerLeave={hold.leave}>
        <section
          className={styles.card}
          aria-label="Jobs that match"
          onPointerEnter={() => !cursor && hold.enter(jobs?.[0])}
        >
          <Table
            label="Jobs"
            columns={columns}
            rows={jobs}
            rowKey={(job) => job.id}
            rowName={(job) => `${job.task} ${job.id}`}
            href={(job) => keepTenant(`/jobs/${job.id}`, params.get("tenant"))}
            selection={mayAct ? chosen.selection : undefined}
            skeleton={12}
            empty={<NothingHere filter={filter} tenant={tenant} next={list.data?.next} />}
          />
        </section>
        <Pager
          jobs={jobs}
          next={list.data?.next}
          cursor={cursor}
          line={line}
          fresh={!cursor && hold.fresh}
          onNewest={() => {
            hold.release();
            change({ cursor: null });
          }}
          onOlder={(next) => change({ cursor: next }, true)}
        />
      </div>
      {mayAct && <BulkBar filter={filter} chosen={chosen.jobs} onClear={chosen.clear} />}
    </Page>
  );
}

/**
 * Rows must not move under the pointer, nor under a selection: while either is there, the list begins with the job that
 * is first now, whose states still follow, and a button tells that there are newer ones. A list of jobs that live stands
 * still meanwhile: they leave it as they go on.
 */
function useHold(line: boolean) {
  const [cursor, setCursor] = useState<string>();
  const [still, setStill] = useState(false);
  const [fresh, setFresh] = useState(false);
  const [kept, setKept] = useState(false);
  usePulse((pulse) => {
    if (cursor !== undefined && pulse.submitted > 0) setFresh(true);
  });
  const release = useCallback(() => {
    setCursor(undefined);
    setStill(false);
    setFresh(false);
    // What came meanwhile is not in the list as it was before.
    void client.invalidateQueries({ queryKey: LIST_KEY });
  }, []);
  const enter = useCallback(
    (first: Job | undefined) => {
      if (line) setStill(true);
      else if (first) setCursor((before) => before ?? cursorAbove(first.id));
    },
    [line],
  );
  const keep = useCallback(
    (selected: boolean) => {
      setKept(selected);
      if (!selected) release();
    },
    [release],
  );
  return {
    cursor: line ? undefined : cursor,
    still: line && still,
    fresh: !line && fresh,
    release,
    enter,
    keep,
    leave: () => !kept && release(),
  };
}

/** What is selected, with the jobs themselves: they may have left the page since. */
function useChosen(address: string, jobs: Job[] | undefined) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Job>>(new Map());
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list is another selection
  useEffect(() => setChosen(new Map()), [address]);
  const selection: Selection = {
    selected: chosen.size === 0 ? NOTHING : new Set(chosen.keys()),
    onChange: (keys) => {
      const known = new Map([...chosen, ...(jobs ?? []).map((job): [string, Job] => [job.id, job])]);
      setChosen(new Map([...keys].flatMap((key) => (known.has(key) ? [[key, known.get(key) as Job]] : []))));
    },
  };
  return { selection, jobs: [...chosen.values()], clear: () => setChosen(new Map()) };
}

interface PagerProps {
  jobs: Job[] | undefined;
  next: string | undefined;
  cursor: string | undefined;
  /** In the order in which they stand. */
  line: boolean;
  fresh: boolean;
  onNewest: () => void;
  onOlder: (cursor: string) => void;
}

function Pager({ jobs, next, cursor, line, fresh, onNewest, onOlder }: PagerProps) {
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
      <Button small icon="left" disabled={!cursor} onClick={() => window.history.back()}>
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
