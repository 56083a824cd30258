/** The server's stream of pulses: one connection for the page, open only while somebody looks. */
import type { Query } from "@tanstack/react-query";
import { client } from "~/api/client";
import { type Connection, follow } from "./follow";

export interface Pulse {
  at: string;
  seconds: number;
  submitted: number;
  started: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  other: number;
  retried: number;
  /** Jobs that changed, at most 100; `more` says that there were others. */
  jobs: string[];
  more: boolean;
  policy: boolean;
}

const LOOK_AGAIN = 200;
/** Sums are written down up to two seconds after what they count, and an answer is shared for one. */
const SETTLED = 3500;

class Stream {
  private stop: (() => void) | undefined;
  private address: string | undefined;
  private connection: Connection = "connecting";
  private greetedAt = Number.POSITIVE_INFINITY;
  private readonly watchers = new Set<() => void>();
  private readonly listeners = new Set<(pulse: Pulse) => void>();
  private readonly readAt = new Map<string, number>();
  private due: Set<string> = new Set();
  private later: ReturnType<typeof setTimeout> | undefined;
  private last: ReturnType<typeof setTimeout> | undefined;

  /** Follows this tenant's pulses from now on; undefined is all tenants, null is nothing. */
  follow(tenant: string | undefined | null): void {
    const next =
      tenant === null
        ? undefined
        : tenant === undefined
          ? "/v1/events"
          : `/v1/events?tenant=${encodeURIComponent(tenant)}`;
    if (next === this.address) return;
    this.address = next;
    this.open();
  }

  onPulse(listener: (pulse: Pulse) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  state = (): Connection => this.connection;

  /** When it began to tell, in milliseconds: before that nobody listened. */
  since = (): number => this.greetedAt;

  retryNow = (): void => this.open();

  private open(): void {
    this.stop?.();
    const { address } = this;
    this.stop =
      address === undefined
        ? undefined
        : follow({
            address: () => address,
            events: {
              hello: () => this.greeted(),
              pulse: (data) => this.beat(JSON.parse(data) as Pulse),
            },
            onState: (connection) => connection === "lost" && this.lose(),
          });
  }

  /** What happened while nobody looked, or nothing was heard, is read at once. */
  private greeted(): void {
    this.greetedAt = Date.now();
    this.say("live");
    void client.invalidateQueries();
    this.readAgain();
  }

  private lose(): void {
    this.say("lost");
    // A session that has ended closes the stream too; then this shows the sign-in page.
    void client.invalidateQueries({ queryKey: ["/v1/session"] });
  }

  private say(connection: Connection): void {
    if (connection === this.connection) return;
    this.connection = connection;
    for (const watcher of this.watchers) watcher();
  }

  private beat(pulse: Pulse): void {
    for (const listener of this.listeners) listener(pulse);
    this.readAll();
    this.readAgain();
  }

  /** No other pulse may follow, and what was read just now may be from before the last one. */
  private readAgain(): void {
    clearTimeout(this.last);
    this.last = setTimeout(() => this.readAll(), SETTLED);
  }

  private readAll(): void {
    for (const query of liveQueries()) this.due.add(query.queryHash);
    this.readDue();
  }

  /**
   * Reads what is due again, none sooner than it allows and none that is still being read: these are looked at again in
   * a moment, for what they are about to show may be from before the pulse, and no other pulse may follow.
   */
  private readDue(): void {
    clearTimeout(this.later);
    const now = Date.now();
    const left = new Set<string>();
    for (const query of liveQueries().filter((one) => this.due.has(one.queryHash))) {
      const soonest = (this.readAt.get(query.queryHash) ?? 0) + Number(query.meta?.live) * 1000 - 50;
      if (query.state.fetchStatus !== "idle" || now < soonest) {
        left.add(query.queryHash);
        continue;
      }
      this.readAt.set(query.queryHash, now);
      void client.refetchQueries({ queryKey: query.queryKey, exact: true, type: "active" });
    }
    this.due = left;
    if (left.size > 0) this.later = setTimeout(() => this.readDue(), LOOK_AGAIN);
    if (this.readAt.size > 200) this.readAt.clear();
  }
}

function liveQueries(): Query[] {
  return client.getQueryCache().findAll({
    type: "active",
    predicate: (query) => typeof query.meta?.live === "number",
  });
}

export const stream = new Stream();
