import { useApi } from "~/api/hooks";
import { useTenant } from "~/api/session";
import type { Overview } from "~/api/types";
import { Command } from "~/components/Copy";
import { Empty, ErrorNote } from "~/components/Note";
import { Page } from "~/components/Page";
import { Segments } from "~/components/Tabs";
import { type Range, rangeChoices } from "~/lib/ranges";
import { useSearchState } from "~/lib/search";
import { Failures } from "./Failures";
import { Figures } from "./Figures";
import { Fleet } from "./Fleet";
import styles from "./Home.module.css";
import { Delays, Outcomes } from "./Plots";
import { Policy } from "./Policy";
import { Ticks } from "./Ticks";

const RANGES = rangeChoices("15m", "1h", "6h", "1d", "7d", "30d");

/** What is happening now: flow, waiting, delays, and what needs a look. */
export default function Home() {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const range = RANGES.find((each) => each.value === params.get("range"))?.value ?? "15m";
  const overview = useApi("/v1/overview", { query: { tenant, range }, live: LIVE[range], every: 15 });
  const data = overview.data;
  const quiet = data !== undefined && idle(data);
  return (
    <Page
      title="Home"
      actions={
        <Segments
          label="Time range"
          choices={RANGES}
          value={range}
          onChange={(next) => change({ range: next === "15m" ? null : next })}
        />
      }
    >
      {overview.error && <ErrorNote error={overview.error} retry={() => void overview.refetch()} />}
      <Figures overview={data} />
      {quiet ? (
        <Start />
      ) : (
        <div className={styles.plots}>
          <Outcomes overview={data} />
          <Delays overview={data} />
        </div>
      )}
      <div className={styles.lists}>
        {!quiet && <Failures overview={data} />}
        <Fleet overview={data} />
        {!quiet && <Ticks overview={data} />}
        <Policy overview={data} />
      </div>
    </Page>
  );
}

/** The longer the range, the less a second matters and the more the answer costs. */
const LIVE: Record<Range, number> = { "15m": 1, "1h": 2, "6h": 5, "1d": 10, "7d": 30, "30d": 60 };

/** Nothing has happened, and nothing is in the way: no gate, and workers are there. */
function idle(overview: Overview): boolean {
  const { submitted, started } = overview.series;
  const flowed = [...submitted, ...started].some((count) => count > 0);
  const waits = overview.pending > 0 || overview.running > 0 || overview.ticks.length > 0;
  return !flowed && !waits && overview.gates === 0 && overview.workers_total > 0;
}

function Start() {
  return (
    <Empty title="Nothing has happened in this time" icon="jobs">
      <p>
        Choose a longer time above, or submit a job: from a program, with the form of a task, or like this:
      </p>
      <Command text={"horae submit add --param a=1 --param b=2"} />
    </Empty>
  );
}
