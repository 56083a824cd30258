/** A job's log: what there is by pages, then, as long as it runs, what comes by a stream. */
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { address, call } from "~/api/call";
import { ApiError } from "~/api/error";
import { type Connection, follow } from "~/live/follow";
import { type Chunk, Lines } from "./lines";

const PAGE = 1000;
const AGAIN_MS = 2000;

export interface LogState {
  lines: Lines;
  /** Grows with every change of the lines. */
  version: number;
  phase: "loading" | "following" | "ended";
  connection: Connection;
  error: unknown;
}

class Source {
  private lines = new Lines();
  private listeners = new Set<() => void>();
  private stopped = new AbortController();
  private leave: (() => void) | undefined;
  private frame: number | undefined;
  state: LogState = {
    lines: this.lines,
    version: 0,
    phase: "loading",
    connection: "connecting",
    error: null,
  };

  constructor(private readonly id: string) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): LogState => this.state;

  async start(): Promise<void> {
    try {
      const more = await this.readPages();
      if (this.stopped.signal.aborted) return;
      if (more) this.follow();
      else this.say({ phase: "ended" });
    } catch (error) {
      if (this.stopped.signal.aborted) return;
      this.say({ error });
      if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) {
        setTimeout(() => !this.stopped.signal.aborted && void this.start(), AGAIN_MS);
      }
    }
  }

  stop(): void {
    this.stopped.abort();
    this.leave?.();
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
  }

  /** All there is now; true when more may come. */
  private async readPages(): Promise<boolean> {
    for (;;) {
      const query = { cursor: this.lines.count > 0 ? this.lines.cursor : undefined, limit: PAGE };
      const options = { path: { job_id: this.id }, query, signal: this.stopped.signal };
      const page = await call("get", "/v1/jobs/{job_id}/logs", options);
      this.add(page.items);
      this.say({ error: null });
      if (!page.next_cursor) return false;
      if (page.items.length < PAGE) return true;
    }
  }

  private follow(): void {
    this.say({ phase: "following" });
    this.leave = follow({
      address: () => {
        const query = { follow: true, cursor: this.lines.count > 0 ? this.lines.cursor : undefined };
        return address("/v1/jobs/{job_id}/logs", { job_id: this.id }, query);
      },
      events: {
        log: (data) => this.add([JSON.parse(data) as Chunk]),
        end: () => {
          this.leave?.();
          this.say({ phase: "ended" });
        },
      },
      onState: (connection) => this.say({ connection }),
    });
  }

  private add(chunks: Chunk[]): void {
    let more = false;
    for (const chunk of chunks) more = this.lines.add(chunk) || more;
    // A chatty job sends many chunks between two frames: they are drawn at once.
    if (more) this.frame ??= requestAnimationFrame(() => this.drawn());
  }

  private drawn(): void {
    this.frame = undefined;
    this.say({ version: this.state.version + 1 });
  }

  private say(changes: Partial<LogState>): void {
    this.state = { ...this.state, ...changes };
    for (const listener of this.listeners) listener();
  }
}

/** `live` turning true again, by a retry, begins to follow again. */
export function useLog(id: string, attempt: number): LogState {
  const [source, setSource] = useState(() => new Source(id));
  const seen = useRef(attempt);
  useEffect(() => {
    if (attempt > seen.current && source.snapshot().phase === "ended") setSource(new Source(id));
    seen.current = attempt;
  }, [attempt, id, source]);
  useEffect(() => {
    void source.start();
    return () => source.stop();
  }, [source]);
  return useSyncExternalStore(source.subscribe, source.snapshot);
}
