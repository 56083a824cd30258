/** Instants and durations in words. Pure: the moment and the zone are given. */
import type { Zone } from "./preferences";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "4 min ago", "in 2 h": one unit, because two change too often to be read. */
export function formatRelative(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  const size = Math.abs(seconds);
  if (size < 1) return "now";
  const text = formatCoarse(size);
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}

/** One unit: for where there is little room, or where more would change too often to be read. */
export function formatCoarse(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`;
  if (seconds < 60 * DAY) return `${Math.floor(seconds / DAY)} days`;
  if (seconds < 730 * DAY) return `${Math.floor(seconds / (30.44 * DAY))} months`;
  return `${Math.floor(seconds / (365.25 * DAY))} years`;
}

/** "820 µs", "12 ms", "1.24 s", "3 m 5 s", "2 h 10 m", "3 d 4 h". */
export function formatDuration(seconds: number): string {
  if (seconds < 0) return `−${formatDuration(-seconds)}`;
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return `${Math.max(1, Math.round(seconds * 1e6))} µs`;
  if (seconds < 0.9995) return `${Number((seconds * 1000).toPrecision(3))} ms`;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < MINUTE) return `${seconds.toFixed(1)} s`;
  if (seconds < HOUR) return two(seconds, MINUTE, "m", 1, "s");
  if (seconds < DAY) return two(seconds, HOUR, "h", MINUTE, "m");
  return two(seconds, DAY, "d", HOUR, "h");
}

function two(seconds: number, big: number, bigName: string, small: number, smallName: string): string {
  const whole = Math.floor(seconds / big);
  const rest = Math.floor((seconds - whole * big) / small);
  return rest === 0 ? `${whole} ${bigName}` : `${whole} ${bigName} ${rest} ${smallName}`;
}

const pad = (value: number, width = 2) => String(value).padStart(width, "0");

/** "2026-11-16 07:05:21" in the zone; with milliseconds where asked. */
export function formatInstant(at: Date, zone: Zone, milliseconds = false): string {
  const [year, month, day, hour, minute, second] =
    zone === "utc"
      ? [
          at.getUTCFullYear(),
          at.getUTCMonth(),
          at.getUTCDate(),
          at.getUTCHours(),
          at.getUTCMinutes(),
          at.getUTCSeconds(),
        ]
      : [at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()];
  const part = milliseconds ? `.${pad(at.getMilliseconds(), 3)}` : "";
  return `${pad(year, 4)}-${pad(month + 1)}-${pad(day)} ${pad(hour)}:${pad(minute)}:${pad(second)}${part}`;
}

/** Time of day, for axes and dense lists. */
export function formatClock(at: Date, zone: Zone, seconds = false): string {
  return formatInstant(at, zone).slice(11, seconds ? 19 : 16);
}

/** "Mon 16 Nov": for axes and headings. */
export function formatDay(at: Date, zone: Zone): string {
  return new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    timeZone: zone === "utc" ? "UTC" : undefined,
  }).format(at);
}

export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Both readings of an instant, for titles. */
export function bothInstants(at: Date): string {
  return `${formatInstant(at, "local", true)} ${localZone()}\n${formatInstant(at, "utc", true)} UTC`;
}

/** The value of an <input type="datetime-local"> in the zone, and back. */
export function toInput(at: Date, zone: Zone): string {
  return formatInstant(at, zone).replace(" ", "T").slice(0, 16);
}

export function fromInput(value: string, zone: Zone): Date | null {
  const at = new Date(zone === "utc" ? `${value}Z` : value);
  return Number.isNaN(at.getTime()) ? null : at;
}
