import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { follow } from "./follow";

class Source extends EventTarget {
  static opened: Source[] = [];
  onopen?: () => void;
  onerror?: () => void;
  closed = false;
  constructor(readonly address: string) {
    super();
    Source.opened.push(this);
  }
  close() {
    this.closed = true;
  }
}

const page = Object.assign(new EventTarget(), { visibilityState: "visible" });

function look(state: "visible" | "hidden") {
  page.visibilityState = state;
  page.dispatchEvent(new Event("visibilitychange"));
}

beforeEach(() => {
  Source.opened = [];
  page.visibilityState = "visible";
  vi.stubGlobal("EventSource", Source);
  vi.stubGlobal("document", page);
  vi.useFakeTimers();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const open = () => Source.opened.filter((source) => !source.closed).map((source) => source.address);

it("holds no connection while nobody looks and goes on from where it was", () => {
  let read = 0;
  const stop = follow({ address: () => `/log?cursor=${read}`, events: {} });
  expect(open()).toEqual(["/log?cursor=0"]);
  read = 7;
  look("hidden");
  expect(open()).toEqual([]);
  look("visible");
  expect(open()).toEqual(["/log?cursor=7"]);
  stop();
  look("hidden");
  look("visible");
  expect(open()).toEqual([]);
});

it("opens again whatever ended it, later each time until it is heard", () => {
  const states: string[] = [];
  follow({ address: () => "/x", events: {}, onState: (state) => states.push(state) });
  for (const wait of [625, 1250, 2500]) {
    Source.opened.at(-1)?.onerror?.();
    expect(open()).toEqual([]);
    vi.advanceTimersByTime(wait);
    expect(open()).toEqual(["/x"]);
  }
  Source.opened.at(-1)?.onopen?.();
  Source.opened.at(-1)?.onerror?.();
  vi.advanceTimersByTime(625);
  expect(open()).toEqual(["/x"]);
  expect(states).toEqual(["lost", "lost", "lost", "live", "lost"]);
});

it("tells the data of each event by its name", () => {
  const heard: string[] = [];
  follow({ address: () => "/x", events: { log: (data) => heard.push(data) } });
  Source.opened[0]?.dispatchEvent(new MessageEvent("log", { data: "one" }));
  Source.opened[0]?.dispatchEvent(new MessageEvent("other", { data: "two" }));
  expect(heard).toEqual(["one"]);
});
