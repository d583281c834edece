/**
 * A grid of many rows, of which only the visible ones exist.
 *
 * Follows the ARIA grid pattern with true counts: one stop in the tab order, arrows move between cells, Home and
 * End to the ends of a row, from there or with Ctrl to the ends of the grid, Enter opens. Where cells can be edited, Enter, F2 and a
 * double click ask for it, and the owner puts an editor in place of the cell. Rows may be missing for a while (`rowAt`
 * gives undefined); the grid says through `onVisible` which it needs. Order and filter are the owner's.
 *
 * Where its owner takes ranges (`onRanges`), Shift with a movement or a click extends one from where the cursor was, Mod
 * with a click or the space bar takes one row in or out (Mod with an arrow goes there and chooses nothing), and Mod+A
 * takes all. Where its owner gives a row a menu (`menu`), a right click opens it at the pointer, Shift+F10 and the menu key
 * at the cursor. A row that stays as it is, by identity, is not rendered again while the grid is scrolled, and where one leaps
 * to other rows they take over the elements of those that were there.
 */
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import styles from './data-grid.module.css';
import {
  clamp,
  isInRanges,
  nextPlace,
  type CellPosition,
  rangeBetween,
  type RowRange,
  type RowRanges,
  withRange,
  withToggled,
} from './grid-places.ts';
import { type MenuPoint, RowMenu, type RowMenuGroups } from './row-menu.tsx';
import { useRowHeight } from './use-row-height.ts';
import { useVirtualRows, type VirtualRows } from './use-virtual-rows.ts';

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Pixels, at least; with `grow` the column takes a share of what is left. */
  readonly width: number;
  readonly grow?: number;
  readonly align?: 'end';
  /** Buttons and switches, which stand side by side; else a line of text, which is cut off where it is too long. */
  readonly holds?: 'controls';
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
  /** Rows that are chosen together, in place of `selected`. */
  ranges?: RowRanges;
  /** Several rows were chosen together, or none any more. */
  onRanges?: (ranges: RowRanges) => void;
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
  /** What can be done with a row and one of its cells; nothing where the row is not there yet. */
  menu?: (index: number, column: string) => RowMenuGroups;
  /** Other keys, with the row they are for. */
  onKey?: (event: KeyboardEvent, index: number) => void;
  /** The visible rows, the last exclusive. */
  onVisible?: (first: number, last: number) => void;
}

/** The cursor; its column by id, since columns come and go. null: the first. */
interface Cursor {
  readonly row: number;
  readonly column: string | null;
}

/** The tracks of the columns, and what they take at least, in pixels. */
function layoutOf<Row>(columns: readonly Column<Row>[]): { template: CSSProperties; minWidth: number } {
  const tracks = columns.map(({ width, grow }) =>
    grow === undefined ? `${width}px` : `minmax(${width}px, ${grow}fr)`,
  );
  const minWidth = columns.reduce((sum, column) => sum + column.width, 0);
  return { template: { gridTemplateColumns: tracks.join(' ') }, minWidth };
}

const sortWords = { asc: 'ascending', desc: 'descending' } as const;

function HeaderCell<Row>({ column, index }: { column: Column<Row>; index: number }) {
  const { sort } = column;
  const direction = sort?.direction ?? null;
  const ariaSort = direction === null ? undefined : sortWords[direction];
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
}

function CellContent<Row>({
  row,
  column,
  editing,
}: {
  row: Row;
  column: Column<Row>;
  editing: BodyRowProps<Row>['editing'];
}) {
  if (editing?.column === column.id) return editing.editor;
  return (
    <span className={column.holds === 'controls' ? styles.controls : styles.cellText}>
      {column.cell(row)}
    </span>
  );
}

/** The cells of a row. The active one alone has an id: nothing else asks for them, and to write them takes its time. */
function Cells<Row>({ gridId, index, row, columns, activeColumn, editing }: BodyRowProps<Row>) {
  return columns.map((column, columnIndex) => (
    <div
      key={column.id}
      id={columnIndex === activeColumn ? `${gridId}-${index}-${columnIndex}` : undefined}
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
        <CellContent row={row} column={column} editing={editing} />
      )}
    </div>
  ));
}

/** What stands for a row that is not there yet: one cell, since many of them go by while one drags the scroll bar. */
function WaitingCell({ columns }: { columns: number }) {
  return (
    <div
      role="gridcell"
      aria-colindex={1}
      aria-colspan={columns}
      aria-busy
      aria-label="Loading"
      className={`${styles.cell} ${styles.waitingCell}`}
    >
      <span className={styles.waiting} aria-hidden />
    </div>
  );
}

function PlainBodyRow<Row>(props: BodyRowProps<Row>) {
  const { index, top, row, columns, template, isSelected, activeColumn, editing } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={[styles.row, props.className ?? '', editing === null ? '' : styles.edited].join(' ')}
      style={{ ...template, transform: `translateY(${top}px)` }}
    >
      {row === undefined && activeColumn === null ? (
        <WaitingCell columns={columns.length} />
      ) : (
        <Cells {...props} />
      )}
    </div>
  );
}

// `memo` forgets that the component is generic.
const BodyRow = memo(PlainBodyRow) as typeof PlainBodyRow;

/** The cell of the grid that something happened in; null: in none. */
function cellAt(target: EventTarget): CellPosition | null {
  const cell = target instanceof Element ? target.closest('[role="gridcell"]') : null;
  const row = Number(cell?.parentElement?.getAttribute('aria-rowindex'));
  const column = Number(cell?.getAttribute('aria-colindex'));
  return row > 0 && column > 0 ? { row: row - 2, column: column - 1 } : null;
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
  rowHeight: number;
  gridId: string;
  template: CSSProperties;
  active: CellPosition;
}

/** Rows stand at fixed places in a block, no further down than so many; to scroll moves the block. */
const mostRowsOfBlock = 4096;

/** The row that the block begins with: another after a leap, so that the rows there stand in the places of those before. */
function useBlock(first: number, last: number): number {
  const [seen, setSeen] = useState({ first, last, block: first });
  if (seen.first === first && seen.last === last) return seen.block;
  const isLeap = first >= seen.last || last <= seen.first;
  const block = isLeap ? first - (seen.first - seen.block) : seen.block;
  const next = { first, last, block: Math.abs(first - block) > mostRowsOfBlock ? first : block };
  setSeen(next);
  return next.block;
}

const none: RowRanges = [];

function BodyRows<Row>(props: BodyRowsProps<Row>) {
  const {
    columns,
    rows,
    rowHeight,
    rowAt,
    selected,
    ranges = none,
    editing,
    gridId,
    template,
    active,
  } = props;
  const [start] = rows;
  const first = start?.index ?? 0;
  const block = useBlock(first, first + rows.length);
  if (start === undefined) return null;
  const top = start.top - (first - block) * rowHeight;
  return (
    <div role="presentation" className={styles.block} style={{ transform: `translateY(${top}px)` }}>
      {rows.map(({ index }) => {
        const row = rowAt(index);
        return (
          <BodyRow
            key={index - block}
            gridId={gridId}
            index={index}
            top={(index - block) * rowHeight}
            row={row}
            columns={columns}
            template={template}
            isSelected={ranges.length === 0 ? index === selected : isInRanges(ranges, index)}
            activeColumn={index === active.row ? active.column : null}
            editing={editing?.row === index ? editing : null}
            className={row === undefined ? undefined : props.rowClass?.(row)}
          />
        );
      })}
    </div>
  );
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
function placeOf<Row>(cursor: Cursor, columns: readonly Column<Row>[], count: number): CellPosition {
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

interface GridActs {
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  readonly onMouseDown: (event: MouseEvent<HTMLElement>) => void;
  readonly onClick: (event: MouseEvent) => void;
}

/**
 * A double click is on the cell of its first click, whatever that has moved under the pointer: a pane that it opened
 * narrows the grid, or stands where the cell was. So the page is listened to, and the second click does nothing else.
 */
function useDoubleClick(gridRef: RefObject<HTMLElement | null>, onOpen: (place: CellPosition) => void): void {
  const pressed = useRef<CellPosition | null>(null);
  const onClick = useEffectEvent((event: globalThis.MouseEvent) => {
    const { target, detail } = event;
    const isInside = target instanceof Element && gridRef.current?.contains(target) === true;
    if (detail === 1) pressed.current = isInside ? cellAt(target) : null;
    const place = pressed.current;
    if (detail !== 2 || place === null) return;
    pressed.current = null;
    const isInCell = isInside && cellAt(target) !== null;
    if (isInCell && isControl(target)) return;
    if (!isInCell) {
      event.preventDefault();
      event.stopPropagation();
    }
    // After what the click does by itself, such as choosing the row.
    setTimeout(() => onOpen(place));
  });
  useEffect(() => {
    const listener = (event: globalThis.MouseEvent) => onClick(event);
    window.addEventListener('click', listener, { capture: true });
    return () => window.removeEventListener('click', listener, { capture: true });
  }, []);
}

/** What takes clicks for itself. */
function isControl(target: Element): boolean {
  return target.closest('button, a, input, select, textarea, [role="switch"]') !== null;
}

/** The menu that is open: of which cell, and where. */
interface OpenMenu {
  readonly place: CellPosition;
  readonly at: MenuPoint;
}

interface GridMenu {
  readonly element: ReactNode;
  /** True where the key was one that opens the menu. */
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => boolean;
  readonly onContextMenu: (event: MouseEvent<HTMLElement>) => void;
}

function isMenuKey({ key, shiftKey }: KeyboardEvent): boolean {
  return key === 'ContextMenu' || (key === 'F10' && shiftKey);
}

/** The menu of the rows. `take` puts the cursor on the cell that it is for, and chooses its row. */
function useRowMenu<Row>(
  { columns, count, menu, label, rowAt }: DataGridProps<Row>,
  active: CellPosition,
  take: (place: CellPosition) => void,
  gridRef: RefObject<HTMLElement | null>,
): GridMenu {
  const [open, setOpen] = useState<OpenMenu | null>(null);

  function show(place: CellPosition, at: MenuPoint): void {
    take(place);
    setOpen({ place, at });
  }

  /** The focus goes back; what an item opens takes it after that. */
  function close(): void {
    setOpen(null);
    gridRef.current?.focus();
  }

  const column = open === null ? undefined : columns[open.place.column]?.id;
  const groups =
    menu === undefined || open === null || column === undefined || rowAt(open.place.row) === undefined
      ? []
      : menu(open.place.row, column);
  const hasItems = groups.some((group) => group.length > 0);
  return {
    element:
      open === null || !hasItems
        ? null
        : createPortal(
            <RowMenu label={`${label}: the row`} at={open.at} groups={groups} onClose={close} />,
            document.body,
          ),
    onKeyDown(event) {
      if (menu === undefined || count === 0 || !isMenuKey(event)) return false;
      event.preventDefault();
      const id = event.currentTarget.getAttribute('aria-activedescendant');
      const box = (id === null ? null : document.getElementById(id))?.getBoundingClientRect();
      const { left, bottom } = box ?? event.currentTarget.getBoundingClientRect();
      show(active, { x: left, y: bottom });
      return true;
    },
    onContextMenu(event) {
      const place = cellAt(event.target);
      if (menu === undefined || place === null) return;
      event.preventDefault();
      event.currentTarget.focus();
      show(place, { x: event.clientX, y: event.clientY });
    },
  };
}

/** What is meant by going to a row: it alone, all from where one was, one more or less; `move`: nothing is chosen. */
type Choice = 'one' | 'extend' | 'extend-more' | 'toggle' | 'all' | 'move';

function choiceOf(event: Pick<KeyboardEvent, 'shiftKey' | 'ctrlKey' | 'metaKey'>): Choice {
  const isMod = event.ctrlKey || event.metaKey;
  if (event.shiftKey) return isMod ? 'extend-more' : 'extend';
  return isMod ? 'toggle' : 'one';
}

/** Chooses rows: one, or where the owner takes them several. */
function useChoosing<Row>(
  { count, selected, ranges = none, onSelect, onRanges }: DataGridProps<Row>,
  active: CellPosition,
): (row: number, choice: Choice) => void {
  /** Where a range began, and what it is now. */
  const anchor = useRef<{ readonly row: number; readonly range: RowRange } | null>(null);

  function extend(take: (ranges: RowRanges) => void, row: number, isMore: boolean): void {
    const began = ranges.length === 0 || anchor.current === null ? active.row : anchor.current.row;
    const range = rangeBetween(began, row);
    const mine = anchor.current?.range;
    const others = ranges.filter(({ first, last }) => mine?.first !== first || mine.last !== last);
    anchor.current = { row: began, range };
    take(isMore ? withRange(others, range) : [range]);
  }

  return (row, choice) => {
    if (choice === 'move') return;
    if (onRanges === undefined || choice === 'one') {
      anchor.current = null;
      onSelect(row);
    } else if (choice === 'all') {
      anchor.current = { row: 0, range: { first: 0, last: count } };
      onRanges([anchor.current.range]);
    } else if (choice === 'toggle') {
      const chosen =
        ranges.length > 0 || selected === null ? ranges : withRange([], rangeBetween(selected, selected));
      anchor.current = { row, range: rangeBetween(row, row) };
      onRanges(withToggled(chosen, row));
    } else extend(onRanges, row, choice === 'extend-more');
  };
}

/** What keys and the pointer do. `go` puts the cursor on a place. */
function useGridActs<Row>(
  props: DataGridProps<Row>,
  active: CellPosition,
  virtual: VirtualRows,
  go: (place: CellPosition) => void,
): GridActs & { readonly open: (place: CellPosition) => void } {
  const { columns, count, onRanges, onOpen, onEdit, onKey } = props;
  const choose = useChoosing(props, active);

  function open({ row, column }: CellPosition): void {
    const id = columns[column]?.id;
    if (onEdit === undefined) onOpen?.(row);
    else if (id !== undefined) onEdit(row, id);
  }

  /** What a key chooses, that goes to a place or is the space bar. */
  function keyChoice(event: KeyboardEvent): Choice {
    if (event.key === ' ') return event.ctrlKey || event.metaKey ? 'toggle' : 'one';
    const choice = choiceOf(event);
    if (choice !== 'toggle') return choice;
    return onRanges !== undefined && event.key.startsWith('Arrow') ? 'move' : 'one';
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (count === 0 || event.target !== event.currentTarget) return;
    const next = nextPlace(event, active, { rows: count, columns: columns.length, page: virtual.pageSize });
    const isMod = event.ctrlKey || event.metaKey;
    const isPlain = !isMod && !event.altKey;
    const opens = isPlain && (event.key === 'Enter' || (event.key === 'F2' && onEdit !== undefined));
    const takesAll = onRanges !== undefined && isMod && event.key.toLowerCase() === 'a';
    if (next === null && !opens && !takesAll && event.key !== ' ') {
      onKey?.(event, active.row);
      return;
    }
    event.preventDefault();
    if (takesAll) {
      choose(0, 'all');
      return;
    }
    const target = next ?? active;
    virtual.scrollToRow(target.row);
    go(target);
    if (opens) choose(target.row, 'one');
    else if (next === null || target.row !== active.row) choose(target.row, keyChoice(event));
    if (opens) open(active);
  }

  return {
    onKeyDown,
    onMouseDown: (event) => {
      if (choiceOf(event) === 'one' || onRanges === undefined || cellAt(event.target) === null) return;
      // It chooses rows; the browser would mark text.
      event.preventDefault();
      event.currentTarget.focus();
    },
    onClick: (event) => {
      const place = cellAt(event.target);
      if (place === null) return;
      go(place);
      choose(place.row, choiceOf(event));
    },
    open: (place) => {
      go(place);
      open(place);
    },
  };
}

export function DataGrid<Row>(props: DataGridProps<Row>) {
  const { label, columns, count, selected, ranges = none, onRanges, onVisible } = props;
  const rowHeight = useRowHeight();
  const scrollRef = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const [cursor, setCursor] = useCursor(selected ?? 0, props.leading ?? 0);
  const virtual = useVirtualRows({ count, rowHeight, scrollRef, headerHeight: rowHeight });
  const { template, minWidth } = useMemo(() => layoutOf(columns), [columns]);
  const active = placeOf(cursor, columns, count);
  useSteadyView(props.leading ?? 0, virtual.shiftBy);
  const goTo = ({ row, column }: CellPosition) => setCursor({ row, column: columns[column]?.id ?? null });
  const { open, ...acts } = useGridActs(props, active, virtual, goTo);
  useDoubleClick(scrollRef, open);
  const takeRow = (place: CellPosition) => {
    goTo(place);
    if (!isInRanges(ranges, place.row)) props.onSelect(place.row);
  };
  const rowMenu = useRowMenu(props, active, takeRow, scrollRef);
  useFocusBack((props.editing ?? null) !== null, scrollRef);
  useRevealed(props.reveal, (row) => {
    setCursor((before) => ({ ...before, row }));
    virtual.scrollToRow(row);
  });
  const { first, last } = useVisible(virtual.rows, onVisible);
  const activeIsRendered = active.row >= first && active.row < last;

  return (
    <div
      ref={scrollRef}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      {...(onRanges === undefined ? {} : { 'aria-multiselectable': true })}
      {...(activeIsRendered ? { 'aria-activedescendant': `${gridId}-${active.row}-${active.column}` } : {})}
      className={`${styles.grid} ${ranges.length === 0 ? '' : styles.ranged}`}
      {...acts}
      onKeyDown={(event) => {
        if (!rowMenu.onKeyDown(event)) acts.onKeyDown(event);
      }}
      onContextMenu={rowMenu.onContextMenu}
    >
      {rowMenu.element}
      <div role="rowgroup" className={styles.headerGroup} style={{ minWidth }}>
        <HeaderRow columns={columns} template={template} />
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.height, minWidth }}>
        <BodyRows
          {...props}
          rows={virtual.rows}
          rowHeight={rowHeight}
          gridId={gridId}
          template={template}
          active={active}
        />
      </div>
    </div>
  );
}
