import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";
import { classes } from "~/lib/classes";
import styles from "./Button.module.css";
import { Icon, type IconName } from "./Icon";

export type ButtonKind = "plain" | "primary" | "danger" | "quiet";

interface Look {
  kind?: ButtonKind;
  icon?: IconName;
  small?: boolean;
}

interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className"> {
  /** Shows that it works and takes no second click; the width stays. */
  busy?: boolean;
  children?: ReactNode;
}

export function Button({
  kind = "plain",
  icon,
  small,
  busy = false,
  disabled,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={look({ kind, small }, children === undefined)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    >
      {busy ? <span className={styles.spinner} aria-hidden="true" /> : icon && <Icon name={icon} size={14} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/** A button that only has a picture: `label` is what it is called and what the title shows. */
export function IconButton({
  label,
  ...rest
}: Omit<ButtonProps, "children"> & { label: string; icon: IconName }) {
  return <Button kind="quiet" {...rest} aria-label={label} title={rest.title ?? label} />;
}

/** Looks like a button, goes somewhere. */
export function ButtonLink({
  href,
  kind = "plain",
  icon,
  small,
  children,
}: Look & { href: string; children: ReactNode }) {
  return (
    <Link href={href} className={look({ kind, small }, false)}>
      {icon && <Icon name={icon} size={14} />}
      <span>{children}</span>
    </Link>
  );
}

function look({ kind, small }: Look, bare: boolean): string {
  return classes(styles.button, styles[kind ?? "plain"], small && styles.small, bare && styles.bare);
}
