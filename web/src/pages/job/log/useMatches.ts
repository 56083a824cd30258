import { useEffect, useRef, useState } from "react";
import type { LogState } from "./useLog";

const SLICE = 50_000;

interface Found {
  needle: string;
  lines: number[];
  /** Up to where it was searched. */
  upTo: number;
}

/** Which lines contain a text: searched in slices, so that a million lines do not hold the page up. */
export function useMatches(log: LogState, needle: string, from: number, until: number) {
  const wanted = needle.toLowerCase();
  const [found, setFound] = useState<Found>({ needle: "", lines: [], upTo: 0 });
  const [at, setAt] = useState(-1);
  const current = found.needle === wanted ? found : { needle: wanted, lines: [], upTo: from };
  const latest = useRef(current);
  latest.current = current;
  // Another text, or another attempt, begins anew.
  useEffect(() => {
    setAt(-1);
    setFound({ needle: wanted, lines: [], upTo: from });
  }, [wanted, from]);
  useEffect(() => {
    if (wanted === "" || current.upTo >= until) return;
    const timer = setTimeout(() => {
      const { lines, upTo } = latest.current;
      // The last line may still grow while the job runs: it is searched once it is complete.
      const end = Math.min(until, upTo + SLICE);
      setFound({ needle: wanted, lines: [...lines, ...log.lines.find(wanted, upTo, end - upTo)], upTo: end });
    });
    return () => clearTimeout(timer);
  }, [wanted, current.upTo, until, log.lines]);
  const lines = wanted === "" ? [] : current.lines;
  const go = (step: 1 | -1): number | undefined => {
    if (lines.length === 0) return undefined;
    const next = at < 0 ? (step === 1 ? 0 : lines.length - 1) : (at + step + lines.length) % lines.length;
    setAt(next);
    return lines[next];
  };
  return { count: lines.length, at: Math.max(at, 0), line: at < 0 ? undefined : lines[at], go };
}
