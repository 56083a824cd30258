import { useEffect, useRef, useSyncExternalStore } from "react";
import { type Connection, type Pulse, stream } from "./pulse";

export function useConnection(): Connection {
  return useSyncExternalStore(stream.watch, stream.state);
}

/** Calls back on each pulse: for what counts events rather than reads lists again. */
export function usePulse(listener: (pulse: Pulse) => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => stream.onPulse((pulse) => latest.current(pulse)), []);
}

/** A stream of server-sent events of one thing (a job's events, its followed logs); reconnects by itself. */
export function useEvents(
  address: string | null,
  handlers: Record<string, (data: string) => void>,
  onState?: (connection: Connection) => void,
): void {
  const latest = useRef({ handlers, onState });
  latest.current = { handlers, onState };
  const names = Object.keys(handlers).sort().join(" ");
  useEffect(() => {
    if (address === null) return;
    return follow(
      address,
      names.split(" "),
      (name, data) => latest.current.handlers[name]?.(data),
      (connection) => latest.current.onState?.(connection),
    );
  }, [address, names]);
}

const AGAIN = 2000;

/** A browser connects again by itself when a stream breaks, but gives up when the server answers with an error. */
function follow(
  address: string,
  names: readonly string[],
  onEvent: (name: string, data: string) => void,
  onState: (connection: Connection) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const open = () => {
    source = new EventSource(address);
    source.onopen = () => onState("live");
    source.onerror = () => {
      onState("lost");
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN);
    };
    for (const name of names) {
      source.addEventListener(name, (event) => onEvent(name, (event as MessageEvent<string>).data));
    }
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
