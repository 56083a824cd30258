import { useEffect, useRef, useState } from "react";
import type { Lines } from "./lines";
import type { LogState } from "./useLog";

const SLICE = 50_000;

export interface Found {
  needle: string;
  /** Undefined is all. */
  attempt: number | undefined;
  lines: number[];
  /** Up to where it was searched for good. */
  upTo: number;
}

/** Goes on with a search by one slice. The last line may still grow: it is searched again each time. */
export function searchOn(all: Lines, before: Found, until: number, slice = SLICE): Found {
  const { lines, upTo } = before;
  const end = Math.min(until, upTo + slice);
  const found = all.find(before.needle, upTo, end - upTo);
  return {
    ...before,
    lines: [...lines.filter((at) => at < upTo), ...found],
    upTo: Math.min(end, all.complete),
  };
}

function beginning(needle: string, attempt: number | undefined, upTo: number): Found {
  return { needle, attempt, lines: [], upTo };
}

/** Which lines contain a text: searched in slices, so that a million lines do not hold the page up. */
export function useMatches(log: LogState, needle: string, attempt: number | undefined) {
  const [from, until] = log.lines.range(attempt);
  const wanted = needle.toLowerCase();
  const [found, setFound] = useState<Found>(() => beginning("", undefined, 0));
  const [at, setAt] = useState(-1);
  const same = found.needle === wanted && found.attempt === attempt;
  const current = same ? found : beginning(wanted, attempt, from);
  const latest = useRef(current);
  latest.current = current;
  // Another text, or another attempt, begins anew.
  useEffect(() => {
    setAt(-1);
    setFound(beginning(wanted, attempt, from));
  }, [wanted, attempt, from]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is more to search, be it in the last line
  useEffect(() => {
    if (wanted === "" || current.upTo >= until) return;
    const timer = setTimeout(() => setFound(searchOn(log.lines, latest.current, until)));
    return () => clearTimeout(timer);
  }, [wanted, current.upTo, until, log.lines, log.version]);
  const lines = wanted === "" ? [] : current.lines;
  const go = (step: 1 | -1): number | undefined => {
    if (lines.length === 0) return undefined;
    const next = at < 0 ? (step === 1 ? 0 : lines.length - 1) : (at + step + lines.length) % lines.length;
    setAt(next);
    return lines[next];
  };
  return { count: lines.length, at: Math.max(at, 0), line: at < 0 ? undefined : lines[at], go };
}
