import { useRef } from "react";
import type { Overview } from "~/api/types";
import { Stat, Stats } from "~/components/Facts";
import { StateGlyph } from "~/components/StateBadge";
import { useClock } from "~/lib/clock";
import { formatCount, formatNumber, formatShort, safeText } from "~/lib/text";
import { formatCoarse, formatDuration } from "~/lib/time";
import { usePulse } from "~/live/hooks";
import { stream } from "~/live/pulse";
import { useHref } from "~/shell/navigation";
import { RecentFlow } from "./flow";

const SPAN = 10;
/** Waiting longer than this deserves a look. */
const LONG = 60;

/** The figures at the top: flow, what waits and runs, and how promptly it starts. */
export function Figures({ overview }: { overview: Overview | undefined }) {
  const rates = useRates();
  const href = useHref();
  return (
    <Stats label="Figures">
      <Stat
        label="Jobs a second"
        value={rates.ended}
        unit="/s"
        note={rates.submitted && `${rates.submitted}/s submitted`}
      />
      {(["running", "ready", "scheduled", "blocked"] as const).map((state) => (
        <Stat
          key={state}
          label={WORDS[state]}
          mark={<StateGlyph state={state} />}
          value={overview && formatShort(overview[state])}
          title={overview && formatCount(overview[state])}
          note={NOTES[state]}
          href={href(`/jobs?status=${state}`)}
        />
      ))}
      <Stat
        label="Start delay"
        value={overview && delay(overview.wait.p50)}
        note={overview && `p99 ${delay(overview.wait.p99)}`}
        title="Half of the jobs started within this time after they were due"
      />
      <Oldest overview={overview} />
    </Stats>
  );
}

const WORDS = { running: "Running", ready: "Ready", scheduled: "Scheduled", blocked: "Blocked" };
const NOTES = {
  running: "on the workers",
  ready: "wait for a worker",
  scheduled: "wait for their time",
  blocked: "wait for others",
};

function Oldest({ overview }: { overview: Overview | undefined }) {
  const href = useHref();
  const oldest = overview?.oldest;
  const waited = useClock((now) =>
    oldest ? Math.floor((now.getTime() - Date.parse(oldest.due_at)) / 1000) : 0,
  );
  if (!oldest) return <Stat label="Oldest waiting" value={overview && "–"} note="nothing waits" />;
  return (
    <Stat
      label="Oldest waiting"
      value={formatCoarse(Math.max(0, waited))}
      note={safeText(oldest.task)}
      tone={waited > LONG ? "warn" : undefined}
      href={href(`/jobs/${oldest.id}`)}
    />
  );
}

function delay(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined ? "–" : formatDuration(seconds);
}

/** Rates of the last ten seconds from the pulses, for these tell sooner than any step of a series. */
function useRates(): { ended: string | undefined; submitted: string | undefined } {
  const flow = useRef(new RecentFlow(SPAN));
  usePulse((pulse) => {
    const ended = pulse.succeeded + pulse.failed + pulse.cancelled + pulse.other;
    flow.current.add(Date.now() / 1000, ended, pulse.submitted);
  });
  const told = useClock((now) => {
    const rates = flow.current.rates(now.getTime() / 1000, stream.since() / 1000);
    return rates ? `${formatNumber(rates.ended)} ${formatNumber(rates.submitted)}` : "";
  });
  const [ended, submitted] = told ? told.split(" ") : [];
  return { ended, submitted };
}
