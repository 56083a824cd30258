import { useApi } from "~/api/hooks";
import { useTenant } from "~/api/session";
import type { Overview } from "~/api/types";
import { Command } from "~/components/Copy";
import { Empty, ErrorNote } from "~/components/Note";
import { Page } from "~/components/Page";
import { Segments } from "~/components/Tabs";
import { useSearchState } from "~/lib/search";
import { Failures } from "./Failures";
import { Figures } from "./Figures";
import { Fleet } from "./Fleet";
import styles from "./Home.module.css";
import { Delays, Outcomes } from "./Plots";
import { Policy } from "./Policy";
import { Ticks } from "./Ticks";

const RANGES = ["15m", "1h", "6h", "1d", "7d", "30d"] as const;
type Range = (typeof RANGES)[number];

/** What is happening now: flow, waiting, delays, and what needs a look. */
export default function Home() {
  const tenant = useTenant();
  const { params, change } = useSearchState();
  const range = RANGES.find((each) => each === params.get("range")) ?? "15m";
  const overview = useApi("/v1/overview", { query: { tenant, range }, live: LIVE[range], every: 15 });
  const data = overview.data;
  return (
    <Page
      title="Home"
      actions={
        <Segments
          label="Time range"
          choices={RANGES.map((each) => ({ value: each, label: each }))}
          value={range}
          onChange={(next) => change({ range: next === "15m" ? null : next })}
        />
      }
    >
      {overview.error && <ErrorNote error={overview.error} retry={() => void overview.refetch()} />}
      <Figures overview={data} />
      {data && idle(data) ? (
        <Start />
      ) : (
        <>
          <div className={styles.plots}>
            <Outcomes overview={data} />
            <Delays overview={data} />
          </div>
          <div className={styles.lists}>
            <Failures overview={data} />
            <Fleet overview={data} />
            <Ticks overview={data} />
            <Policy overview={data} />
          </div>
        </>
      )}
    </Page>
  );
}

/** The longer the range, the less a second matters and the more the answer costs. */
const LIVE: Record<Range, number> = { "15m": 1, "1h": 2, "6h": 5, "1d": 10, "7d": 30, "30d": 60 };

function idle(overview: Overview): boolean {
  const { submitted, started } = overview.series;
  const flowed = [...submitted, ...started].some((count) => count > 0);
  return !flowed && overview.pending === 0 && overview.running === 0 && overview.ticks?.length === 0;
}

function Start() {
  return (
    <Empty title="Nothing has happened in this time" icon="jobs">
      <p>
        Choose a longer time above, or submit a job: from a program, with the form of a task, or like this:
      </p>
      <Command text={"horae submit add a=1 b=2"} />
    </Empty>
  );
}
