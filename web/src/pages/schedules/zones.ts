/** Instants by the clocks of any zone. Pure but for what the browser knows of zones. */

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(tz: string): Intl.DateTimeFormat {
  const known = formatters.get(tz);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    timeZone: knownZone(tz) ? tz : "UTC",
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  formatters.set(tz, made);
  return made;
}

/** The server's zone database may be newer than the browser's. */
export function knownZone(tz: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: tz });
    return true;
  } catch {
    return false;
  }
}

export interface Wall {
  weekday: string;
  /** 2026-11-16 */
  day: string;
  /** 07:05, with seconds only where there are any, or where asked. */
  time: string;
}

/** Whether any of them is not on a full minute: then all should be written with their seconds, one below the other. */
export function anySeconds(ticks: readonly { at: string }[] | undefined): boolean {
  return ticks?.some(({ at }) => Date.parse(at) % 60_000 !== 0) ?? false;
}

export function wallOf(at: Date, tz: string, exact = false): Wall {
  const parts: Record<string, string> = {};
  for (const { type, value } of formatter(tz).formatToParts(at)) parts[type] = value;
  const seconds = parts.second === "00" && !exact ? "" : `:${parts.second}`;
  return {
    weekday: parts.weekday ?? "",
    day: `${parts.year}-${parts.month}-${parts.day}`,
    time: `${parts.hour}:${parts.minute}${seconds}`,
  };
}

/** "Fri 2026-11-20 10:00" */
export function formatWall(at: Date, tz: string, exact = false): string {
  const { weekday, day, time } = wallOf(at, tz, exact);
  return `${weekday} ${day} ${time}`;
}

let all: string[] | undefined;

/** Names of zones to propose. */
export function zoneNames(): string[] {
  all ??= ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
  return all;
}
