/** The day ahead as a map: a row an hour, a column a minute. Pure. */
import type { Forecast } from "./types";

export interface Cell {
  at: Date;
  /** Hours since the first row. */
  row: number;
  minute: number;
  ticks: number;
  /** 0…1, in five steps: how full it is beside the fullest. */
  shade: number;
}

export const HOUR = 3_600_000;
const STEPS = 5;

/** Rows begin on the full hour by any clock that is whole hours from UTC. */
export function firstRow(since: string): Date {
  return new Date(Math.floor(Date.parse(since) / HOUR) * HOUR);
}

export function rowCount(forecast: Forecast): number {
  return Math.ceil((Date.parse(forecast.until) - firstRow(forecast.since).getTime()) / HOUR);
}

export function cellsOf(forecast: Forecast): Cell[] {
  const first = firstRow(forecast.since).getTime();
  return forecast.minutes.map(({ at, ticks }) => {
    const time = Date.parse(at);
    const minutes = Math.floor((time - first) / 60_000);
    return {
      at: new Date(time),
      row: Math.floor(minutes / 60),
      minute: minutes % 60,
      ticks,
      shade: shadeOf(ticks, forecast.peak),
    };
  });
}

/** Rounded up: one tick beside fifty must still be seen. */
export function shadeOf(ticks: number, peak: number): number {
  if (ticks <= 0 || peak <= 0) return 0;
  return Math.ceil((ticks / peak) * STEPS) / STEPS;
}

/** What the darkest of each step stands for, for the legend. */
export function stepsOf(peak: number): number[] {
  const steps = Array.from({ length: STEPS }, (_, at) => Math.max(1, Math.floor(((at + 1) / STEPS) * peak)));
  return [...new Set(steps)];
}
