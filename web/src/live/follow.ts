/** A stream of server-sent events: open only while somebody looks, and opened again whatever ended it. */

export type Connection = "connecting" | "live" | "lost";

export interface Followed {
  /** Asked at each opening: it may say up to where one has read. */
  address: () => string;
  /** What is done with the data of each kind of event. */
  events: Record<string, (data: string) => void>;
  onState?: (connection: Connection) => void;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

/**
 * Returns what ends it. A browser opens few connections to a host, for all its tabs together: a hidden one leaves its to
 * the others. Nor does a browser try again by itself after an answer that is an error.
 */
export function follow({ address, events, onState }: Followed): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = FIRST_WAIT;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const lose = () => {
    close();
    timer = setTimeout(open, wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT);
    onState?.("lost");
  };
  const open = () => {
    close();
    if (document.visibilityState === "hidden") return;
    source = new EventSource(address());
    source.onopen = () => {
      wait = FIRST_WAIT;
      onState?.("live");
    };
    source.onerror = lose;
    for (const [name, told] of Object.entries(events)) {
      source.addEventListener(name, (event) => told((event as MessageEvent<string>).data));
    }
  };
  const looked = () => (document.visibilityState === "hidden" ? close() : open());
  document.addEventListener("visibilitychange", looked);
  open();
  return () => {
    document.removeEventListener("visibilitychange", looked);
    close();
  };
}
