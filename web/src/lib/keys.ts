/** Single-key shortcuts; silent while somebody types, and behind a dialog. */
import { type RefObject, useEffect, useRef } from "react";

export function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && ["checkbox", "radio"].includes(target.type)) return false;
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** The dialog over everything else: the one with the focus, for those below it cannot have it. */
export function openDialog(): Element | null {
  return document.activeElement?.closest("dialog[open]") ?? document.querySelector("dialog[open]");
}

/** False: it was not for this one; then another may hear it. */
type Act = (event: KeyboardEvent) => unknown;

/** Keys of the whole page; those of something `within` a dialog work there, too. */
export function useKeys(keys: Record<string, Act>, within?: RefObject<Element | null>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (typing(event.target)) return;
      const over = openDialog();
      if (over && !over.contains(within?.current ?? null)) return;
      if (latest.current[event.key] && latest.current[event.key]?.(event) !== false) event.preventDefault();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [within]);
}
