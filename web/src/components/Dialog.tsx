import { type ReactNode, type SyntheticEvent, useEffect, useId, useRef, useState } from "react";
import { classes } from "~/lib/classes";
import { openModal } from "~/lib/modal";
import { Button, IconButton } from "./Button";
import styles from "./Dialog.module.css";
import { TextField } from "./Field";

interface DialogProps {
  title: string;
  open: boolean;
  onClose: () => void;
  /** Buttons at the foot, right. */
  footer?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

/** A window over the page; Escape, the cross and a click beside it close it. */
export function Dialog(props: DialogProps) {
  return <Modal {...props} shape={props.wide ? styles.wideDialog : styles.dialog} />;
}

/** The same at the right edge, full height: for forms and details beside a list. */
export function Drawer(props: DialogProps) {
  return <Modal {...props} shape={classes(styles.drawer, props.wide && styles.wideDrawer)} />;
}

function Modal({ title, open, onClose, footer, children, shape }: DialogProps & { shape?: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (!open || !dialog.current) return;
    const before = document.activeElement;
    const close = openModal(dialog.current);
    // What React focuses of itself it focuses before the dialog is open, when nothing can be.
    dialog.current.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    // What is taken out of the page gives no focus back by itself.
    return () => {
      close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, [open]);
  const pressed = useRef(false);
  if (!open) return null;
  const cancelled = (event: SyntheticEvent) => {
    // React tells this dialog also of the Escape that was for one inside it.
    if (event.target !== event.currentTarget) return;
    event.preventDefault();
    onClose();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a dialog closes by Escape, which is its cancel event
    <dialog
      ref={dialog}
      className={shape}
      aria-labelledby={heading}
      onCancel={cancelled}
      // A text that is selected out over the edge ends beside the dialog, too.
      onPointerDown={(event) => {
        pressed.current = event.target === dialog.current;
      }}
      onClick={(event) => event.target === dialog.current && pressed.current && onClose()}
    >
      <div className={styles.sheet}>
        <header className={styles.head}>
          <h2 id={heading}>{title}</h2>
          <IconButton label="Close" icon="close" small onClick={onClose} />
        </header>
        <div className={styles.body}>{children}</div>
        {footer && <footer className={styles.foot}>{footer}</footer>}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  open: boolean;
  onClose: () => void;
  /** What the button says: the deed itself, as "Cancel 12 jobs". */
  confirm: string;
  danger?: boolean;
  /** A word to type before the button works: for what cannot be undone. */
  typed?: string;
  busy?: boolean;
  disabled?: boolean;
  onConfirm: () => void;
  children: ReactNode;
}

/** Asks before something happens, and names what will. */
export function Confirm({
  title,
  open,
  onClose,
  confirm,
  danger,
  typed,
  busy,
  disabled,
  onConfirm,
  children,
}: ConfirmProps) {
  const [word, setWord] = useState("");
  const ready = typed === undefined || word.trim() === typed;
  return (
    <Dialog
      title={title}
      open={open}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            kind={danger ? "danger" : "primary"}
            busy={busy}
            disabled={disabled || !ready}
            onClick={onConfirm}
          >
            {confirm}
          </Button>
        </>
      }
    >
      {children}
      {typed !== undefined && (
        <TextField
          label={`Type ${typed} to go on`}
          value={word}
          onChange={setWord}
          placeholder={typed}
          mono
        />
      )}
    </Dialog>
  );
}
