/** A month on the wall. Pure: days are strings such as 2026-11-16. */
import type { Zone } from "~/lib/preferences";

export type Month = `${number}-${number}`;

const pad = (value: number) => String(value).padStart(2, "0");

export function monthOf(at: Date, zone: Zone): Month {
  return zone === "utc"
    ? named(at.getUTCFullYear(), at.getUTCMonth())
    : named(at.getFullYear(), at.getMonth());
}

export function readMonth(text: string | null): Month | null {
  return text !== null && /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? (text as Month) : null;
}

export function moved(month: Month, by: number): Month {
  const [year, number] = split(month);
  const at = new Date(Date.UTC(year, number + by, 1));
  return named(at.getUTCFullYear(), at.getUTCMonth());
}

/** From the first instant of the month on, up to the first of the next. */
export function bounds(month: Month, zone: Zone): [Date, Date] {
  const [year, number] = split(month);
  const at = (months: number) =>
    zone === "utc" ? new Date(Date.UTC(year, number + months, 1)) : new Date(year, number + months, 1);
  return [at(0), at(1)];
}

/** Weeks from Monday on; null where another month begins or ends the week. */
export function weeks(month: Month): (string | null)[][] {
  const [year, number] = split(month);
  const first = (new Date(Date.UTC(year, number, 1)).getUTCDay() + 6) % 7;
  const days = new Date(Date.UTC(year, number + 1, 0)).getUTCDate();
  const cells: (string | null)[] = Array.from({ length: first }, () => null);
  for (let day = 1; day <= days; day += 1) cells.push(`${month}-${pad(day)}`);
  while (cells.length % 7 !== 0) cells.push(null);
  return Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7));
}

export function monthWords(month: Month): string {
  const [year, number] = split(month);
  return new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    new Date(Date.UTC(year, number, 1)),
  );
}

/** "Monday 16 November" */
export function dayWords(day: string): string {
  return new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" })
    .format(new Date(`${day}T00:00:00Z`))
    .replace(",", "");
}

function split(month: Month): [number, number] {
  return [Number(month.slice(0, 4)), Number(month.slice(5, 7)) - 1];
}

function named(year: number, number: number): Month {
  return `${year}-${pad(number + 1)}` as Month;
}
