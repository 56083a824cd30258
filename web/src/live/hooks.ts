import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Connection } from "./follow";
import { type Pulse, stream } from "./pulse";

export function useConnection(): Connection {
  return useSyncExternalStore(stream.watch, stream.state);
}

/** Calls back on each pulse: for what counts events rather than reads lists again. */
export function usePulse(listener: (pulse: Pulse) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => stream.onPulse((pulse) => latest.current(pulse)), []);
}
