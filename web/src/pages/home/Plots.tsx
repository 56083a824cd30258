import { useMemo } from "react";
import type { Overview } from "~/api/types";
import { Panel } from "~/components/Page";
import { Plot } from "~/components/Plot";
import { formatDuration } from "~/lib/time";
import { perSecond, rateUnit, stepLengths } from "./flow";

const HEIGHT = 208;

const OUTCOMES = [
  { field: "succeeded", label: "Succeeded", color: "--state-succeeded" },
  { field: "failed", label: "Failed", color: "--state-failed" },
  { field: "cancelled", label: "Cancelled", color: "--state-cancelled" },
  { field: "other", label: "Expired or dropped", color: "--state-expired" },
] as const;

/** How many jobs ended, by how they ended. */
export function Outcomes({ overview }: { overview: Overview | undefined }) {
  const { times, series, unit } = useMemo(() => outcomes(overview), [overview]);
  return (
    <Panel title="Jobs ended" note={`per ${unit.name}`}>
      <Plot label="Jobs ended, by outcome" kind="bars" times={times} series={series} height={HEIGHT} />
    </Panel>
  );
}

function outcomes(overview: Overview | undefined) {
  const times = startsOf(overview);
  const lengths = stepLengths(times, overview?.step ?? 1, overview ? Date.parse(overview.at) / 1000 : 0);
  const rates = OUTCOMES.map(({ field }) => perSecond(overview?.series[field] ?? [], lengths));
  const unit = rateUnit(Math.max(0, ...rates.flat().map((rate) => rate ?? 0)));
  const series = OUTCOMES.map(({ label, color }, at) => ({
    label,
    color,
    values: (rates[at] ?? []).map((rate) => (rate === null ? null : rate * unit.seconds)),
  }));
  return { times, series, unit };
}

/** From being due to running: half of the jobs were quicker than p50, all but one in a hundred than p99. */
export function Delays({ overview }: { overview: Overview | undefined }) {
  const times = useMemo(() => startsOf(overview), [overview]);
  const series = useMemo(
    () => [
      { label: "p50", color: "--accent", values: positive(overview?.series.wait_p50) },
      { label: "p99", color: "--state-blocked", values: positive(overview?.series.wait_p99), dashed: true },
    ],
    [overview],
  );
  return (
    <Panel title="Start delay" note="from due to running">
      <Plot label="Start delay" times={times} series={series} height={HEIGHT} format={formatDuration} log />
    </Panel>
  );
}

function startsOf(overview: Overview | undefined): number[] {
  return (overview?.series.at ?? []).map((at) => Date.parse(at) / 1000);
}

/** A logarithmic scale has no zero: what started at once is shown as a tenth of a millisecond. */
function positive(values: readonly (number | null)[] | undefined): (number | null)[] {
  return (values ?? []).map((value) => (value === null ? null : Math.max(value, 0.0001)));
}
