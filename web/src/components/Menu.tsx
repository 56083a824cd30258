import { type CSSProperties, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { classes } from "~/lib/classes";
import { Button, type ButtonKind } from "./Button";
import { Icon, type IconName } from "./Icon";
import styles from "./Menu.module.css";

export interface MenuItem {
  label: string;
  onSelect: () => void;
  icon?: IconName;
  danger?: boolean;
  disabled?: boolean;
  /** Marks the one in force, for menus that choose. */
  checked?: boolean;
}

interface MenuProps {
  /** Of the button; where it shows only an icon, its name. */
  label: string;
  items: readonly (MenuItem | null)[];
  icon?: IconName;
  /** Only the icon is seen. */
  bare?: boolean;
  kind?: ButtonKind;
  small?: boolean;
  /** Opens upwards: for a button at the foot of the screen. */
  up?: boolean;
  align?: "start" | "end";
}

const GAP = 4;

/** A button that opens a list of deeds; null in the list draws a line. */
export function Menu({ label, items, icon, bare, kind, small, up, align = "end" }: MenuProps) {
  const [place, setPlace] = useState<CSSProperties | null>(null);
  const open = place !== null;
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    list.current?.querySelector<HTMLElement>("button:not(:disabled)")?.focus({ preventScroll: true });
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setPlace(null);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("scroll", outside, { capture: true });
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("scroll", outside, { capture: true });
    };
  }, [open]);
  const close = () => {
    setPlace(null);
    root.current?.querySelector("button")?.focus();
  };
  return (
    <div className={styles.root} ref={root}>
      <Button
        icon={icon}
        kind={kind}
        small={small}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={bare ? label : undefined}
        title={bare ? label : undefined}
        onClick={() => setPlace(open || !root.current ? null : beside(root.current, up, align))}
      >
        {bare ? undefined : (
          <>
            {label} <Icon name="down" size={12} />
          </>
        )}
      </Button>
      {open && (
        <div
          id={id}
          ref={list}
          role="menu"
          tabIndex={-1}
          aria-label={label}
          className={styles.list}
          style={place}
          onKeyDown={(event) => moveInMenu(event, close)}
        >
          {items.map((item, at) =>
            item === null ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and the list is fixed
              <hr key={at} className={styles.line} />
            ) : (
              <Item key={item.label} item={item} close={close} />
            ),
          )}
        </div>
      )}
    </div>
  );
}

/** Where the list opens: fixed on the screen, because a table that scrolls would cut it off. */
function beside(button: HTMLElement, up: boolean | undefined, align: "start" | "end"): CSSProperties {
  const box = button.getBoundingClientRect();
  const { innerWidth, innerHeight } = window;
  const above = up || box.bottom > innerHeight * 0.7;
  return {
    ...(above ? { bottom: innerHeight - box.top + GAP } : { top: box.bottom + GAP }),
    ...(align === "start" ? { left: box.left } : { right: Math.max(GAP, innerWidth - box.right) }),
  };
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
  return (
    <button
      type="button"
      {...(item.checked === undefined
        ? { role: "menuitem" }
        : { role: "menuitemradio", "aria-checked": item.checked })}
      disabled={item.disabled}
      className={classes(styles.item, item.danger && styles.danger)}
      onClick={() => {
        close();
        item.onSelect();
      }}
    >
      {item.icon && <Icon name={item.icon} size={14} />}
      <span>{item.label}</span>
      {item.checked && <Icon name="check" size={14} />}
    </button>
  );
}

function moveInMenu(event: KeyboardEvent<HTMLElement>, close: () => void): void {
  if (event.key === "Escape" || event.key === "Tab") {
    event.stopPropagation();
    if (event.key === "Escape") event.preventDefault();
    close();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1, Home: -1000, End: 1000 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("button:not(:disabled)")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next =
    Math.abs(step) === 1 ? (at + step + items.length) % items.length : step < 0 ? 0 : items.length - 1;
  items[next]?.focus();
}
