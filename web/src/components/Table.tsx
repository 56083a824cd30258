import { type KeyboardEvent, type MouseEvent, type ReactNode, useRef } from "react";
import { useLocation } from "wouter";
import { classes } from "~/lib/classes";
import { openDialog, useKeys } from "~/lib/keys";
import { Skeleton } from "./Skeleton";
import styles from "./Table.module.css";

export interface Column<R> {
  id: string;
  head: ReactNode;
  cell: (row: R) => ReactNode;
  align?: "end";
  /** A CSS width; without it the browser shares out what is left. */
  width?: string;
  /** Left out where the screen is narrow. */
  wide?: boolean;
  /** May take all the room and is cut with an ellipsis; give it to the one column with long text. */
  grow?: boolean;
}

export interface Selection {
  selected: ReadonlySet<string>;
  onChange: (selected: ReadonlySet<string>) => void;
}

interface TableProps<R> {
  /** What the table lists: its accessible name. */
  label: string;
  columns: readonly Column<R>[];
  /** Undefined while it loads: then `skeleton` grey rows hold the place. */
  rows: readonly R[] | undefined;
  /** It could not be read: where nothing is there yet, nothing holds its place. The page says why. */
  failed?: boolean;
  rowKey: (row: R) => string;
  /** Where a click on the row, or Enter, leads. Have a link to it in a cell as well. */
  href?: (row: R) => string;
  onOpen?: (row: R) => void;
  selection?: Selection;
  /** Called for what checkbox of a row is named by; the key, unless given. */
  rowName?: (row: R) => string;
  empty?: ReactNode;
  skeleton?: number;
}

/** Rows to move in with j and k, open with Enter and, where there is a selection, choose with x. */
export function Table<R>(props: TableProps<R>) {
  const { label, columns, rows, failed, rowKey, selection, empty, skeleton = 8 } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body, selection);
  if (rows === undefined && failed) return null;
  if (rows?.length === 0 && empty !== undefined) return <div className={styles.empty}>{empty}</div>;
  return (
    <div className={styles.scroll}>
      <table className={styles.table} aria-label={label} aria-busy={rows === undefined || undefined}>
        <thead>
          <tr>
            {selection && (
              <th className={styles.choose} scope="col">
                <ChooseAll keys={rows?.map(rowKey) ?? []} selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <th key={column.id} scope="col" className={cellClass(column)} style={{ width: column.width }}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows === undefined
            ? Array.from({ length: skeleton }, (_, row) => row).map((row) => (
                <SkeletonRow key={row} columns={columns} choose={selection !== undefined} />
              ))
            : rows.map((row) => <Row key={rowKey(row)} row={row} table={props} />)}
        </tbody>
      </table>
    </div>
  );
}

function Row<R>({ row, table }: { row: R; table: TableProps<R> }) {
  const { columns, rowKey, href, onOpen, selection, rowName } = table;
  const [, go] = useLocation();
  const key = rowKey(row);
  const chosen = selection?.selected.has(key) ?? false;
  const opens = href !== undefined || onOpen !== undefined;
  const open = () => (onOpen ? onOpen(row) : href && go(href(row)));
  const clicked = (event: MouseEvent<HTMLElement>) => {
    if (!opens || (event.target as HTMLElement).closest("a, button, input, label, select")) return;
    if (window.getSelection()?.toString()) return;
    if ((event.metaKey || event.ctrlKey) && href) window.open(`/console${href(row)}`, "_blank");
    else open();
  };
  const pressed = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== "Enter" || event.target !== event.currentTarget || !opens) return;
    event.preventDefault();
    open();
  };
  return (
    <tr
      data-row={key}
      tabIndex={-1}
      className={classes(styles.row, opens && styles.opens, chosen && styles.chosen)}
      onClick={clicked}
      onKeyDown={pressed}
    >
      {selection && (
        <td className={styles.choose}>
          <input
            type="checkbox"
            checked={chosen}
            aria-label={`Select ${rowName ? rowName(row) : key}`}
            onChange={() => selection.onChange(toggled(selection.selected, key))}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.id} className={cellClass(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function ChooseAll({ keys, selection }: { keys: string[]; selection: Selection }) {
  const chosen = keys.filter((key) => selection.selected.has(key)).length;
  const all = keys.length > 0 && chosen === keys.length;
  return (
    <input
      type="checkbox"
      aria-label="Select all on this page"
      checked={all}
      ref={(box) => {
        if (box) box.indeterminate = chosen > 0 && !all;
      }}
      onChange={() =>
        selection.onChange(
          all ? without(selection.selected, keys) : new Set([...selection.selected, ...keys]),
        )
      }
    />
  );
}

function SkeletonRow<R>({ columns, choose }: { columns: readonly Column<R>[]; choose: boolean }) {
  return (
    <tr className={styles.row}>
      {choose && <td className={styles.choose} />}
      {columns.map((column) => (
        <td key={column.id} className={cellClass(column)}>
          <Skeleton width={column.grow ? "70%" : "60%"} />
        </td>
      ))}
    </tr>
  );
}

function cellClass<R>({ align, wide, grow }: Column<R>): string {
  return classes(align === "end" && styles.end, wide && styles.wide, grow && styles.grow);
}

/** What is selected on other pages stays. */
function without(selected: ReadonlySet<string>, keys: readonly string[]): ReadonlySet<string> {
  const next = new Set(selected);
  for (const key of keys) next.delete(key);
  return next;
}

function toggled(selected: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(key)) next.add(key);
  return next;
}

function useRowKeys(
  body: { current: HTMLTableSectionElement | null },
  selection: Selection | undefined,
): void {
  // The rows of all tables are one sequence, of which the table that hears the key first does the step.
  const move = (step: 1 | -1) => {
    const rows = [...(openDialog() ?? document).querySelectorAll<HTMLElement>("[data-row]")];
    const at = rows.indexOf(document.activeElement?.closest<HTMLElement>("[data-row]") as HTMLElement);
    const next = rows[at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  const choose = () => {
    const row = document.activeElement?.closest<HTMLElement>("[data-row]");
    const key = row?.dataset.row;
    if (key === undefined || !selection || !body.current?.contains(row ?? null)) return false;
    selection.onChange(toggled(selection.selected, key));
  };
  useKeys({ j: () => move(1), k: () => move(-1), x: choose }, body);
}
