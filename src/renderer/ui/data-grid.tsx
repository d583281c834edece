/**
 * A grid of many rows, of which only the visible ones exist.
 *
 * Follows the ARIA grid pattern with true counts: one stop in the tab order, arrows move between cells, Home and
 * End to the ends of a row, with Ctrl to the ends of the grid, Enter opens. Rows may be missing for a while
 * (`rowAt` gives undefined); the grid says through `onVisible` which it needs. Order and filter are the owner's.
 */
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useId,
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
  /** Other keys, with the row they are for. */
  onKey?: (event: KeyboardEvent, index: number) => void;
  /** The visible rows, the last exclusive. */
  onVisible?: (first: number, last: number) => void;
}

interface Place {
  row: number;
  column: number;
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
  onClick: () => void;
  onDoubleClick: () => void;
}

function BodyRow<Row>(props: BodyRowProps<Row>) {
  const { gridId, index, top, row, columns, template, isSelected, activeColumn, onClick, onDoubleClick } =
    props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={styles.row}
      style={{ ...template, transform: `translateY(${top}px)` }}
      onClick={onClick}
      onDoubleClick={onDoubleClick}
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
        >
          {row === undefined ? (
            <span className={styles.waiting} aria-hidden />
          ) : (
            <span className={styles.cellText}>{column.cell(row)}</span>
          )}
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

export function DataGrid<Row>(props: DataGridProps<Row>) {
  const { label, columns, count, rowAt, selected, onSelect, onOpen, onKey, onVisible } = props;
  const rowHeight = useRowHeight();
  const scrollRef = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const [place, setPlace] = useState<Place>({ row: selected ?? 0, column: 0 });
  const virtual = useVirtualRows({ count, rowHeight, scrollRef, headerHeight: rowHeight });
  const { template, minWidth } = layoutOf(columns);
  const active: Place = { row: clamp(place.row, count - 1), column: clamp(place.column, columns.length - 1) };
  useRevealed(props.reveal, (row) => {
    setPlace((before) => ({ ...before, row }));
    virtual.scrollToRow(row);
  });
  const { first, last } = useVisible(virtual.rows, onVisible);
  const activeIsRendered = active.row >= first && active.row < last;

  function onKeyDown(event: KeyboardEvent<HTMLDivElement>): void {
    if (count === 0 || event.target !== event.currentTarget) return;
    const next = nextPlace(event, active, { rows: count, columns: columns.length, page: virtual.pageSize });
    if (next === null && event.key !== 'Enter' && event.key !== ' ') {
      onKey?.(event, active.row);
      return;
    }
    event.preventDefault();
    const target = next ?? active;
    setPlace(target);
    virtual.scrollToRow(target.row);
    if (next === null || target.row !== active.row) onSelect(target.row);
    if (event.key === 'Enter') onOpen?.(active.row);
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
        {virtual.rows.map(({ index, top }) => (
          <BodyRow
            key={index}
            gridId={gridId}
            index={index}
            top={top}
            row={rowAt(index)}
            columns={columns}
            template={template}
            isSelected={index === selected}
            activeColumn={index === active.row ? active.column : null}
            onClick={() => {
              setPlace({ row: index, column: active.column });
              onSelect(index);
            }}
            onDoubleClick={() => onOpen?.(index)}
          />
        ))}
      </div>
    </div>
  );
}
