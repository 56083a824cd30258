/** How a plot is drawn: the options of uPlot, in the colours and the type of the console. */
import uPlot from "uplot";
import type { Zone } from "~/lib/preferences";
import { formatClock, formatDay } from "~/lib/time";
import type { Series } from "./Plot";
import { resolveColor } from "./plotColors";

export interface PlotLook {
  kind: "line" | "bars";
  height: number;
  log: boolean;
  zone: Zone;
  format: (value: number) => string;
  onHover: (at: number | null) => void;
}

/** Areas are painted calmer than words: a state's colour has a second one for that. */
export function paintToken(color: string, kind: PlotLook["kind"]): string {
  return kind === "line" ? color : color.replace("--state-", "--fill-");
}

export function plotOptions(host: HTMLElement, series: readonly Series[], look: PlotLook): uPlot.Options {
  const drawn = look.kind === "line" ? series : [...series].reverse();
  return {
    width: host.clientWidth,
    height: look.height,
    tzDate: (at) => wallClock(at, look.zone),
    // Half of the last mark of the time stands beside the plot.
    padding: [10, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: look.kind === "line", size: 6 }, drag: { x: false, y: false } },
    scales: {
      x: { time: true, range: (plot, from, to) => [from, to + (look.kind === "bars" ? stepOf(plot) : 0)] },
      y: look.log ? { distr: 3, log: 10 } : { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    axes: axes(host, look),
    series: [{}, ...drawn.map((each) => drawnSeries(host, each, look.kind))],
    hooks: { setCursor: [(made) => look.onHover(made.cursor.idx ?? null)] },
  };
}

function axes(host: HTMLElement, look: PlotLook): uPlot.Axis[] {
  const stroke = resolveColor(host, "--ink-3");
  const font = `11px ${getComputedStyle(host).fontFamily}`;
  const common = { stroke, font, ticks: { show: false } };
  const filter = look.log ? { filter: decades } : {};
  return [
    {
      ...common,
      grid: { show: false },
      space: 72,
      size: 26,
      values: (_, marks) => clockMarks(marks, look.zone),
    },
    {
      ...common,
      ...filter,
      grid: { stroke: resolveColor(host, "--line-soft"), width: 1, ...filter },
      size: 52,
      space: 32,
      values: (_, marks) => marks.map((mark) => (mark === null ? "" : axisMark(look.format(mark)))),
    },
  ];
}

/** A date whose local reading is the clock of the zone: by it uPlot chooses where marks stand. */
export function wallClock(at: number, zone: Zone): Date {
  const date = new Date(at * 1000);
  return zone === "utc" ? uPlot.tzDate(date, "UTC") : date;
}

/** A bar stands on its step, from where it begins: the last one needs room too. */
function stepOf(plot: uPlot): number {
  const [first = 0, second = first] = plot.data[0];
  return second - first;
}

/** A logarithmic axis names powers of ten only. */
function decades(_: uPlot, marks: number[]): (number | null)[] {
  return marks.map((mark) => (Number.isInteger(Number(Math.log10(mark).toFixed(6))) ? mark : null));
}

/** "10.0 s" is "10 s" on an axis. */
function axisMark(text: string): string {
  return text.replace(/\.0+(?=\s|$)/, "");
}

function drawnSeries(host: HTMLElement, each: Series, kind: PlotLook["kind"]): uPlot.Series {
  const color = resolveColor(host, paintToken(each.color, kind));
  const common: uPlot.Series = { label: each.label, stroke: color, points: { show: false }, width: 1.5 };
  const points = { show: true, size: 4, fill: color, filter: alone };
  if (kind === "line") return { ...common, points, dash: each.dashed ? [4, 4] : undefined, spanGaps: false };
  const bars = uPlot.paths.bars?.({ size: [0.8, 40], align: 1, radius: 0 });
  return { ...common, fill: color, width: 0, paths: bars };
}

/** A value between two gaps makes no line: it gets a dot. */
function alone(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  const there = (at: number) => values[at] !== null && values[at] !== undefined;
  return [...values.keys()].filter((at) => there(at) && !there(at - 1) && !there(at + 1));
}

function clockMarks(marks: readonly number[], zone: Zone): string[] {
  const span = (marks.at(-1) ?? 0) - (marks[0] ?? 0);
  const gap = (marks[1] ?? 0) - (marks[0] ?? 0);
  return marks.map((mark) => {
    const at = new Date(mark * 1000);
    if (span > 2.5 * 86_400) return formatDay(at, zone).replace(/^\w+,? /, "");
    return formatClock(at, zone, gap > 0 && gap < 60);
  });
}

/** uPlot draws what it is given: a pile is made by adding up, and drawn from the top so that the lower cover it. */
export function plotData(
  times: readonly number[],
  series: readonly Series[],
  pile: boolean,
): uPlot.AlignedData {
  const sums = new Array<number>(times.length).fill(0);
  const rows = series.map((each) =>
    times.map((_, at) => {
      const value = each.values[at] ?? null;
      if (!pile) return value;
      sums[at] = (sums[at] ?? 0) + (value ?? 0);
      return sums[at] ?? 0;
    }),
  );
  return [[...times], ...(pile ? rows.reverse() : rows)] as uPlot.AlignedData;
}
