import { useEffect, useRef } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useKeys } from "~/lib/keys";
import { ALL_PLACES, keepTenant } from "./navigation";

/** How long g waits for the letter of a place. */
const CHORD = 1200;

export const KEYS: readonly (readonly [readonly string[], string])[] = [
  [["Ctrl", "K"], "Go to or find anything"],
  [["/"], "Search on this page"],
  [["j"], "Next row"],
  [["k"], "Previous row"],
  [["Enter"], "Open the row"],
  [["x"], "Select the row"],
  [["?"], "This help"],
  ...ALL_PLACES.map((place) => [["g", place.key], place.label] as const),
];

export function useShortcuts({ palette, help }: { palette: () => void; help: () => void }): void {
  const [, go] = useLocation();
  const [params] = useSearchParams();
  const armed = useRef(0);
  const open = useRef(palette);
  open.current = palette;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== "k" ||
        !(event.ctrlKey || event.metaKey) ||
        event.shiftKey ||
        event.altKey
      )
        return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) open.current();
    };
    // The second letter of g … comes before the page's own keys: g j goes to the jobs and moves no row.
    const second = (event: KeyboardEvent) => {
      if (Date.now() - armed.current > CHORD) return;
      armed.current = 0;
      const place = ALL_PLACES.find((each) => each.key === event.key);
      if (!place) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      go(keepTenant(place.href, params.get("tenant")));
    };
    window.addEventListener("keydown", listen);
    window.addEventListener("keydown", second, { capture: true });
    return () => {
      window.removeEventListener("keydown", listen);
      window.removeEventListener("keydown", second, { capture: true });
    };
  }, [go, params]);
  useKeys({
    g: () => {
      armed.current = Date.now();
    },
    "?": help,
    "/": () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
  });
}
