/**
 * A grid of many rows, of which only the visible ones exist.
 *
 * Follows the ARIA grid pattern with true counts: one stop in the tab order, arrows move between cells, Home and
 * End to the ends of a row, with Ctrl to the ends of the grid, Enter opens. Where cells can be edited, Enter, F2 and a
 * double click ask for it, and the owner puts an editor in place of the cell. Rows may be missing for a while (`rowAt`
 * gives undefined); the grid says through `onVisible` which it needs. Order and filter are the owner's.
 */
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import styles from './data-grid.module.css';
import { useRowHeight } from './use-row-height.ts';
import { useVirtualRows } from './use-virtual-rows.ts';

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Pixels, at least; with `grow` the column takes a share of what is left. */
  readonly width: number;
  readonly grow?: number;
  readonly align?: 'end';
  /** Present where the column can be sorted by. */
  readonly sort?: { readonly direction: 'asc' | 'desc' | null; readonly toggle: () => void };
  readonly cell: (row: Row) => ReactNode;
}

interface DataGridProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  count: number;
  rowAt: (index: number) => Row | undefined;
  selected: number | null;
  onSelect: (index: number) => void;
  /** A row that the cursor goes to, and that is brought into view, whenever this changes. */
  reveal?: number;
  /** Enter or double click. */
  onOpen?: (index: number) => void;
  /** Enter, F2 or a double click on a cell, by the id of its column: in place of `onOpen` where cells can be edited. */
  onEdit?: (index: number, column: string) => void;
  /** The cell that is edited, and what stands in its place. The grid takes the focus back when it is gone. */
  editing?: { readonly row: number; readonly column: string; readonly editor: ReactNode } | null;
  /** A class of the row, for how it stands. */
  rowClass?: (row: Row) => string | undefined;
  /** Rows put before the others: the cursor and what is seen stay on their rows when their number changes. */
  leading?: number;
  /** Other keys, with the row they are for. */
  onKey?: (event: KeyboardEvent, index: number) => void;
  /** The visible rows, the last exclusive. */
  onVisible?: (first: number, last: number) => void;
}

interface Place {
  row: number;
  column: number;
}

/** The cursor; its column by id, since columns come and go. null: the first. */
interface Cursor {
  readonly row: number;
  readonly column: string | null;
}

function clamp(value: number, greatest: number): number {
  return Math.max(0, Math.min(greatest, value));
}

/** Where a key leads from a place, or null where it leads nowhere. */
export function nextPlace(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>,
  place: Place,
  size: { rows: number; columns: number; page: number },
): Place | null {
  const isWide = event.ctrlKey || event.metaKey;
  const lastRow = size.rows - 1;
  const lastColumn = size.columns - 1;
  switch (event.key) {
    case 'ArrowDown':
      return { ...place, row: clamp(place.row + 1, lastRow) };
    case 'ArrowUp':
      return { ...place, row: clamp(place.row - 1, lastRow) };
    case 'ArrowRight':
      return { ...place, column: clamp(place.column + 1, lastColumn) };
    case 'ArrowLeft':
      return { ...place, column: clamp(place.column - 1, lastColumn) };
    case 'PageDown':
      return { ...place, row: clamp(place.row + size.page, lastRow) };
    case 'PageUp':
      return { ...place, row: clamp(place.row - size.page, lastRow) };
    case 'Home':
      return isWide ? { row: 0, column: 0 } : { ...place, column: 0 };
    case 'End':
      return isWide ? { row: lastRow, column: lastColumn } : { ...place, column: lastColumn };
    default:
      return null;
  }
}

/** The tracks of the columns, and what they take at least, in pixels. */
function layoutOf<Row>(columns: readonly Column<Row>[]): { template: CSSProperties; minWidth: number } {
  const tracks = columns.map(({ width, grow }) =>
    grow === undefined ? `${width}px` : `minmax(${width}px, ${grow}fr)`,
  );
  const minWidth = columns.reduce((sum, column) => sum + column.width, 0);
  return { template: { gridTemplateColumns: tracks.join(' ') }, minWidth };
}

function HeaderCell<Row>({ column, index }: { column: Column<Row>; index: number }) {
  const { sort } = column;
  const ariaSort =
    sort?.direction === 'asc' ? 'ascending' : sort?.direction === 'desc' ? 'descending' : undefined;
  return (
    <div
      role="columnheader"
      aria-colindex={index + 1}
      {...(ariaSort === undefined ? {} : { 'aria-sort': ariaSort })}
      className={`${styles.headerCell} ${column.align === 'end' ? styles.end : ''}`}
    >
      {sort === undefined ? (
        <span className={styles.cellText}>{column.title}</span>
      ) : (
        <button type="button" className={styles.sortButton} onClick={sort.toggle}>
          <span className={styles.cellText}>{column.title}</span>
          {sort.direction === 'asc' && <IconArrowUp size={13} aria-hidden />}
          {sort.direction === 'desc' && <IconArrowDown size={13} aria-hidden />}
        </button>
      )}
    </div>
  );
}

interface BodyRowProps<Row> {
  gridId: string;
  index: number;
  top: number;
  row: Row | undefined;
  columns: readonly Column<Row>[];
  template: CSSProperties;
  isSelected: boolean;
  /** Column of the active cell, where it is in this row; else null. */
  activeColumn: number | null;
  /** What stands in place of a cell of this row; else null. */
  editing: { readonly column: string; readonly editor: ReactNode } | null;
  className: string | undefined;
  onClick: (column: string) => void;
  onDoubleClick: (column: string) => void;
}

function CellContent<Row>({
  row,
  column,
  editing,
}: Pick<BodyRowProps<Row>, 'row' | 'editing'> & { column: Column<Row> }) {
  if (row === undefined) return <span className={styles.waiting} aria-hidden />;
  if (editing?.column === column.id) return editing.editor;
  return <span className={styles.cellText}>{column.cell(row)}</span>;
}

function BodyRow<Row>(props: BodyRowProps<Row>) {
  const { gridId, index, top, row, columns, template, isSelected, activeColumn, editing } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={[styles.row, props.className ?? '', editing === null ? '' : styles.edited].join(' ')}
      style={{ ...template, transform: `translateY(${top}px)` }}
    >
      {columns.map((column, columnIndex) => (
        <div
          key={column.id}
          id={`${gridId}-${index}-${columnIndex}`}
          role="gridcell"
          aria-colindex={columnIndex + 1}
          className={[
            styles.cell,
            column.align === 'end' ? styles.end : '',
            columnIndex === activeColumn ? styles.active : '',
          ].join(' ')}
          onClick={() => props.onClick(column.id)}
          onDoubleClick={() => props.onDoubleClick(column.id)}
        >
          <CellContent row={row} column={column} editing={editing} />
        </div>
      ))}
    </div>
  );
}

function HeaderRow<Row>({ columns, template }: { columns: readonly Column<Row>[]; template: CSSProperties }) {
  return (
    <div role="row" aria-rowindex={1} className={styles.header} style={template}>
      {columns.map((column, index) => (
        <HeaderCell key={column.id} column={column} index={index} />
      ))}
    </div>
  );
}

/** The rows that exist, the last exclusive; the owner is told when they become others. */
function useVisible(
  rows: readonly { index: number }[],
  onVisible: ((first: number, last: number) => void) | undefined,
): { first: number; last: number } {
  const first = rows[0]?.index ?? 0;
  const last = (rows.at(-1)?.index ?? -1) + 1;
  useEffect(() => {
    if (last > first) onVisible?.(first, last);
  }, [first, last, onVisible]);
  return { first, last };
}

/** Sends the cursor to the row that the owner wants to be seen. */
function useRevealed(reveal: number | undefined, show: (row: number) => void): void {
  const onReveal = useEffectEvent(show);
  useEffect(() => {
    if (reveal !== undefined) onReveal(reveal);
  }, [reveal]);
}

/** Keeps what is seen in its place when rows come before it. */
function useSteadyView(leading: number, shiftBy: (rows: number) => void): void {
  const seen = useRef(leading);
  const onLeading = useEffectEvent(() => {
    if (leading !== seen.current) shiftBy(leading - seen.current);
    seen.current = leading;
  });
  useLayoutEffect(() => onLeading(), [leading]);
}

interface BodyRowsProps<Row> extends DataGridProps<Row> {
  rows: readonly { index: number; top: number }[];
  gridId: string;
  template: CSSProperties;
  active: Place;
  /** A cell was clicked. */
  onCell: (index: number, column: string) => void;
}

function BodyRows<Row>(props: BodyRowsProps<Row>) {
  const { columns, rowAt, selected, onOpen, onEdit, editing, gridId, template, active, onCell } = props;

  function onDoubleClick(index: number, column: string): void {
    if (onEdit === undefined) onOpen?.(index);
    else onEdit(index, column);
  }

  return props.rows.map(({ index, top }) => {
    const row = rowAt(index);
    return (
      <BodyRow
        key={index}
        gridId={gridId}
        index={index}
        top={top}
        row={row}
        columns={columns}
        template={template}
        isSelected={index === selected}
        activeColumn={index === active.row ? active.column : null}
        editing={editing?.row === index ? editing : null}
        className={row === undefined ? undefined : props.rowClass?.(row)}
        onClick={(column) => onCell(index, column)}
        onDoubleClick={(column) => onDoubleClick(index, column)}
      />
    );
  });
}

/** The cursor, which stays on its row when the number of rows before the others changes. */
function useCursor(
  row: number,
  leading: number,
): [Cursor, (change: Cursor | ((before: Cursor) => Cursor)) => void] {
  const [cursor, setCursor] = useState<Cursor>({ row, column: null });
  const [seen, setSeen] = useState(leading);
  if (seen !== leading) {
    setSeen(leading);
    setCursor((before) => ({ ...before, row: Math.max(0, before.row + leading - seen) }));
  }
  return [cursor, setCursor];
}

/** Where the cursor is among the columns and rows there are. */
function placeOf<Row>(cursor: Cursor, columns: readonly Column<Row>[], count: number): Place {
  const column = columns.findIndex(({ id }) => id === cursor.column);
  return { row: clamp(cursor.row, count - 1), column: clamp(column, columns.length - 1) };
}

/** Gives the focus back to the grid when the editor that had it is gone. */
function useFocusBack(isEditing: boolean, gridRef: RefObject<HTMLElement | null>): void {
  const wasEditing = useRef(false);
  useEffect(() => {
    const isOver = wasEditing.current && !isEditing;
    wasEditing.current = isEditing;
    // What was removed with the focus leaves it to the body; whoever clicked elsewhere keeps it there.
    if (isOver && document.activeElement === document.body) gridRef.current?.focus();
  }, [isEditing, gridRef]);
}

export function DataGrid<Row>(props: DataGridProps<Row>) {
  const { label, columns, count, selected, onSelect, onOpen, onEdit, onKey, onVisible } = props;
  const rowHeight = useRowHeight();
  const scrollRef = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const [cursor, setCursor] = useCursor(selected ?? 0, props.leading ?? 0);
  const virtual = useVirtualRows({ count, rowHeight, scrollRef, headerHeight: rowHeight });
  const { template, minWidth } = layoutOf(columns);
  const active = placeOf(cursor, columns, count);
  useSteadyView(props.leading ?? 0, virtual.shiftBy);
  useFocusBack((props.editing ?? null) !== null, scrollRef);
  useRevealed(props.reveal, (row) => {
    setCursor((before) => ({ ...before, row }));
    virtual.scrollToRow(row);
  });
  const { first, last } = useVisible(virtual.rows, onVisible);
  const activeIsRendered = active.row >= first && active.row < last;

  function onKeyDown(event: KeyboardEvent<HTMLDivElement>): void {
    if (count === 0 || event.target !== event.currentTarget) return;
    const next = nextPlace(event, active, { rows: count, columns: columns.length, page: virtual.pageSize });
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const edits = onEdit !== undefined && isPlain && (event.key === 'Enter' || event.key === 'F2');
    const opens = onEdit === undefined && isPlain && event.key === 'Enter';
    if (next === null && !edits && !opens && event.key !== ' ') {
      onKey?.(event, active.row);
      return;
    }
    event.preventDefault();
    const target = next ?? active;
    const column = columns[target.column]?.id ?? null;
    setCursor({ row: target.row, column });
    virtual.scrollToRow(target.row);
    if (next === null || target.row !== active.row) onSelect(target.row);
    if (opens) onOpen?.(active.row);
    if (edits && column !== null) onEdit(active.row, column);
  }

  return (
    <div
      ref={scrollRef}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      {...(activeIsRendered ? { 'aria-activedescendant': `${gridId}-${active.row}-${active.column}` } : {})}
      className={styles.grid}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className={styles.headerGroup} style={{ minWidth }}>
        <HeaderRow columns={columns} template={template} />
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.height, minWidth }}>
        <BodyRows
          {...props}
          rows={virtual.rows}
          gridId={gridId}
          template={template}
          active={active}
          onCell={(index, column) => {
            setCursor({ row: index, column });
            onSelect(index);
          }}
        />
      </div>
    </div>
  );
}
