import {
  type InputHTMLAttributes,
  type KeyboardEvent,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { classes } from "~/lib/classes";
import styles from "./Field.module.css";
import { Icon } from "./Icon";
import text from "./Text.module.css";

export interface ControlProps {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  /** The label is read aloud but not seen: for filters in a row. */
  bare?: boolean;
  children: (control: ControlProps) => ReactNode;
}

/** A label with its control, a hint and an error; the control takes the props it is given. */
export function Field({ label, hint, error, bare = false, children }: FieldProps) {
  const id = useId();
  const note = error || hint;
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={bare ? text.unseen : styles.label}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": note ? `${id}-note` : undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {note && (
        <p id={`${id}-note`} className={error ? styles.error : styles.hint}>
          {note}
        </p>
      )}
    </div>
  );
}

type Common = Omit<FieldProps, "children">;
type InputProps = Omit<InputHTMLAttributes<HTMLInputElement>, "className" | "onChange" | "id"> & {
  onChange: (value: string) => void;
  mono?: boolean;
  /** Values to propose. */
  options?: readonly string[];
};

export function TextField({
  label,
  hint,
  error,
  bare,
  onChange,
  mono,
  options,
  ...rest
}: Common & InputProps) {
  const list = useId();
  return (
    <Field label={label} hint={hint} error={error} bare={bare}>
      {(control) => (
        <>
          <input
            type="text"
            autoComplete="off"
            spellCheck={false}
            {...rest}
            {...control}
            data-autofocus={rest.autoFocus || undefined}
            list={options ? list : undefined}
            className={classes(styles.control, mono && styles.mono)}
            onChange={(event) => onChange(event.target.value)}
          />
          {options && (
            <datalist id={list}>
              {options.map((option) => (
                <option key={option} value={option} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

type AreaProps = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "className" | "onChange" | "id"> & {
  onChange: (value: string) => void;
  mono?: boolean;
};

export function TextArea({ label, hint, error, bare, onChange, mono, ...rest }: Common & AreaProps) {
  return (
    <Field label={label} hint={hint} error={error} bare={bare}>
      {(control) => (
        <textarea
          rows={4}
          spellCheck={false}
          {...rest}
          {...control}
          className={classes(styles.control, styles.area, mono && styles.mono)}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

export interface Choice {
  value: string;
  label?: string;
  disabled?: boolean;
}

type SelectProps = Omit<SelectHTMLAttributes<HTMLSelectElement>, "className" | "onChange" | "id"> & {
  choices: readonly (Choice | string)[];
  onChange: (value: string) => void;
};

export function Select({ label, hint, error, bare, choices, onChange, ...rest }: Common & SelectProps) {
  return (
    <Field label={label} hint={hint} error={error} bare={bare}>
      {(control) => (
        <span className={styles.select}>
          <select
            {...rest}
            {...control}
            className={styles.control}
            onChange={(event) => onChange(event.target.value)}
          >
            {choices.map((choice) => {
              const {
                value,
                label: text,
                disabled,
              } = typeof choice === "string" ? ({ value: choice } as Choice) : choice;
              return (
                <option key={value} value={value} disabled={disabled}>
                  {text ?? value}
                </option>
              );
            })}
          </select>
          <Icon name="down" size={12} />
        </span>
      )}
    </Field>
  );
}

interface CheckboxProps {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  hint?: string;
}

export function Checkbox({ label, checked, onChange, disabled, hint }: CheckboxProps) {
  const id = useId();
  return (
    <div className={styles.check}>
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-note` : undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-note`} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A search box; `/` puts the focus here (one a page), Escape takes it away. */
export function SearchField({ label, value, onChange, placeholder }: SearchProps) {
  return (
    <Field label={label} bare>
      {(control) => (
        <span className={styles.search}>
          <Icon name="search" size={14} />
          <input
            {...control}
            type="search"
            data-search
            className={styles.control}
            value={value}
            placeholder={placeholder ?? label}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
            onKeyDown={left}
          />
        </span>
      )}
    </Field>
  );
}

/** What was searched for stays: a browser would empty the field, and close the dialog that it is in. */
function left(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.currentTarget.blur();
}

interface SearchProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
}

/** Fields one below the other, or side by side where there is room. */
export function Fields({ columns = 1, children }: { columns?: 1 | 2 | 3; children: ReactNode }) {
  return <div className={classes(styles.fields, styles[`columns${columns}`])}>{children}</div>;
}

/** Filters and buttons in a row that wraps. */
export function Toolbar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <search className={styles.toolbar} aria-label={label}>
      {children}
    </search>
  );
}
