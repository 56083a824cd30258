import { type ReactNode, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useTenant } from "~/api/session";
import { IconButton } from "~/components/Button";
import { Kbd } from "~/components/Facts";
import { Icon } from "~/components/Icon";
import { Toasts } from "~/components/Toast";
import { openModal } from "~/lib/modal";
import { stream } from "~/live/pulse";
import { ConnectionBanner, ConnectionMark } from "./Connection";
import { Help } from "./Help";
import { Palette } from "./Palette";
import styles from "./Shell.module.css";
import { Sidebar } from "./Sidebar";
import { StopBanner } from "./StopBanner";
import { useShortcuts } from "./shortcuts";

/** Everything around a page: navigation, palette, help, messages and the stream of pulses. */
export function Shell({ children }: { children: ReactNode }) {
  const [panel, setPanel] = useState<"palette" | "help" | "menu" | null>(null);
  const tenant = useTenant();
  const close = () => setPanel(null);
  useEffect(() => {
    stream.follow(tenant);
    return () => stream.follow(null);
  }, [tenant]);
  useShortcuts({ palette: () => setPanel("palette"), help: () => setPanel("help") });
  const main = useFocusOnArrival();
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <aside className={styles.side}>
        <Sidebar />
      </aside>
      <div className={styles.column}>
        <header className={styles.bar}>
          <span className={styles.phone}>
            <IconButton label="Navigation" icon="menu" onClick={() => setPanel("menu")} />
          </span>
          <button type="button" className={styles.find} onClick={() => setPanel("palette")}>
            <Icon name="search" size={14} />
            <span>Go to or find…</span>
            <Kbd>{/Mac|iP/.test(navigator.userAgent) ? "⌘" : "Ctrl"} K</Kbd>
          </button>
          <span className={styles.right}>
            <ConnectionMark />
            <IconButton label="Keyboard help" icon="help" onClick={() => setPanel("help")} />
          </span>
        </header>
        <main id="content" ref={main} tabIndex={-1} className={styles.main}>
          <StopBanner />
          {children}
        </main>
      </div>
      <PhoneMenu open={panel === "menu"} onClose={close} />
      <Palette open={panel === "palette"} onClose={close} />
      <Help open={panel === "help"} onClose={close} />
      <ConnectionBanner />
      <Toasts />
    </div>
  );
}

/** After going to another page, the keyboard and the reader start at its top. */
function useFocusOnArrival() {
  const main = useRef<HTMLElement>(null);
  const [location] = useLocation();
  const before = useRef(location);
  useEffect(() => {
    if (before.current === location) return;
    before.current = location;
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [location]);
  return main;
}

function PhoneMenu({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => (open && dialog.current ? openModal(dialog.current) : undefined), [open]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, which is its own event
    <dialog
      ref={dialog}
      className={styles.menu}
      aria-label="Navigation"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      {open && <Sidebar onGo={onClose} />}
    </dialog>
  );
}
