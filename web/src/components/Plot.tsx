import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Zone, zone } from "~/lib/preferences";
import { useStored } from "~/lib/stored";
import { formatNumber } from "~/lib/text";
import { formatInstant } from "~/lib/time";
import styles from "./Plot.module.css";
import { onThemeChange } from "./plotColors";
import { type PlotLook, paintToken, plotData, plotOptions } from "./plotOptions";

export interface Series {
  label: string;
  /** A colour token, as "--state-failed". */
  color: string;
  values: readonly (number | null)[];
  /** Dashed, for a second measure of the same thing. */
  dashed?: boolean;
}

interface PlotProps {
  /** What it shows: read aloud, and the name of the figure. */
  label: string;
  /** Instants, in seconds since 1970. */
  times: readonly number[];
  series: readonly Series[];
  /** "line" draws lines; "bars" piles up bars, for counts in steps. */
  kind?: PlotLook["kind"];
  height?: number;
  format?: (value: number) => string;
  /** A logarithmic scale, for delays that span decades. */
  log?: boolean;
}

/** Measures over time. The legend shows the figures under the pointer, or the last ones. */
export function Plot(props: PlotProps) {
  const { label, times, series, kind = "line", height = 180, format = formatNumber } = props;
  const [hovered, setHovered] = useState<number | null>(null);
  const [chosen] = useStored(zone);
  const host = usePlot({ ...props, kind, height, format }, chosen, setHovered);
  const moment = hovered === null ? undefined : times[hovered];
  return (
    <figure className={styles.plot} aria-label={label}>
      <figcaption className={styles.legend}>
        {series.map((each) => (
          <span key={each.label} className={styles.entry}>
            <span
              className={each.dashed ? styles.dash : styles.swatch}
              style={{ color: `var(${paintToken(each.color, kind)})` }}
              aria-hidden="true"
            />
            {each.label}
            <b>{figure(hovered === null ? lastOf(each.values) : each.values[hovered], format)}</b>
          </span>
        ))}
        <span className={styles.moment}>
          {moment === undefined ? "" : formatInstant(new Date(moment * 1000), chosen)}
        </span>
      </figcaption>
      <div ref={host} className={styles.canvas} style={{ height }} aria-hidden="true" />
    </figure>
  );
}

function figure(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

/** The last that is known: a step that has just begun has nothing to say yet. */
function lastOf(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

type Drawn = PlotProps & Required<Pick<PlotProps, "kind" | "height" | "format">>;

/** Makes the plot anew when its look changes, and only gives it new data otherwise. */
function usePlot(props: Drawn, chosen: Zone, onHover: (at: number | null) => void) {
  const { times, series, kind, height, log = false } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [painted, setPainted] = useState(0);
  const data = useMemo(() => plotData(times, series, kind !== "line"), [times, series, kind]);
  const latest = useRef({ data, props });
  latest.current = { data, props };
  const lines = JSON.stringify(series.map((each) => [each.label, each.color, each.dashed]));

  useEffect(() => onThemeChange(() => setPainted((before) => before + 1)), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: lines and painted say when the look has changed
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const format = (value: number) => latest.current.props.format(value);
    const look = { kind, height, log, zone: chosen, format, onHover };
    const made = new uPlot(
      plotOptions(element, latest.current.props.series, look),
      latest.current.data,
      element,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [lines, painted, kind, height, log, chosen, onHover]);
  useEffect(() => plot.current?.setData(data), [data]);
  return host;
}
