import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useSession, useTenant } from "~/api/session";
import { Icon } from "~/components/Icon";
import { classes } from "~/lib/classes";
import { openModal } from "~/lib/modal";
import { safeText } from "~/lib/text";
import { findThings } from "~/palette/find";
import type { PaletteItem } from "~/palette/types";
import { ALL_PLACES, keepTenant } from "./navigation";
import styles from "./Palette.module.css";

const PAUSE = 150;

/** Go to or find anything: places at once, things of the server as they are found. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => (open && dialog.current ? openModal(dialog.current) : undefined), [open]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, which is its own event
    <dialog
      ref={dialog}
      className={styles.palette}
      aria-label="Go to or find"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // It is told late: by then the palette may have been called again.
      onClose={() => dialog.current?.open === false && onClose()}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      {open && <Finder onClose={onClose} />}
    </dialog>
  );
}

function Finder({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { items, searching, failed } = useItems(text.trim());
  const [, go] = useLocation();
  const id = useId();
  const current = items[Math.min(at, items.length - 1)];
  const choose = (item: PaletteItem | undefined) => {
    if (!item) return;
    onClose();
    go(item.href);
  };
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") choose(current);
    else if (step !== undefined)
      setAt((Math.min(at, items.length - 1) + step + items.length) % Math.max(1, items.length));
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className={styles.line}>
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Go to or find"
          aria-expanded={true}
          aria-controls={id}
          aria-activedescendant={current ? `${id}-${current.id}` : undefined}
          placeholder="A page, a job's id, a task, a schedule, a worker…"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={pressed}
        />
      </div>
      <div id={id} role="listbox" aria-label="Found" className={styles.list}>
        {items.map((item, place) => (
          <div key={item.id} role="presentation">
            {item.group !== items[place - 1]?.group && (
              <div className={styles.group} role="presentation">
                {item.group}
              </div>
            )}
            <Option id={`${id}-${item.id}`} item={item} on={item === current} choose={() => choose(item)} />
          </div>
        ))}
        {items.length === 0 && (
          <p className={styles.nothing}>
            {searching
              ? "Searching…"
              : failed
                ? "It could not be searched for: the server did not answer as it should. Type on to try again."
                : "Nothing found. A job is found by the first 8 digits of its id, the rest by a part of the name."}
          </p>
        )}
      </div>
    </>
  );
}

function Option({
  id,
  item,
  on,
  choose,
}: {
  id: string;
  item: PaletteItem;
  on: boolean;
  choose: () => void;
}) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (on) row.current?.scrollIntoView({ block: "nearest" });
  }, [on]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the box above has the focus and the keys
    <div
      id={id}
      ref={row}
      role="option"
      aria-selected={on}
      tabIndex={-1}
      className={classes(styles.item, on && styles.on)}
      onClick={choose}
    >
      <Icon name={item.icon} />
      <span className={styles.label}>{safeText(item.label)}</span>
      {item.note && <span className={styles.note}>{safeText(item.note)}</span>}
    </div>
  );
}

interface Found {
  text: string;
  items: readonly PaletteItem[];
  failed: boolean;
}

function useItems(text: string) {
  const [found, setFound] = useState<Found>({ text: "", items: [], failed: false });
  const permissions = useSession()?.permissions;
  const tenant = useTenant();
  const [params] = useSearchParams();
  useEffect(() => {
    if (text === "") return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const context = { tenant, permissions: permissions ?? [], signal: stop.signal };
      findThings(text, context)
        .then((items) => ({ text, items, failed: false }))
        .catch(() => ({ text, items: [], failed: true }))
        .then((next) => !stop.signal.aborted && setFound(next));
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, tenant, permissions]);
  const places = ALL_PLACES.filter(
    (place) =>
      permissions?.includes(place.permission) && place.label.toLowerCase().includes(text.toLowerCase()),
  ).map((place) => ({
    id: `place-${place.key}`,
    label: place.label,
    group: "Pages",
    icon: place.icon,
    href: keepTenant(place.href, params.get("tenant")),
  }));
  const searching = text !== "" && found.text !== text;
  return { items: text === "" ? places : [...places, ...found.items], searching, failed: found.failed };
}
