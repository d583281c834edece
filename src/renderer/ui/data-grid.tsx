/**
 * A grid of many rows that renders only visible ones.
 *
 * Follows the ARIA grid pattern with true counts: one tab stop; arrows move between cells; Home and End go to the ends
 * of a row, then, or with Ctrl, to the ends of the grid; Enter opens. In editable grids Enter, F2 and a double click
 * request an editor, which the owner renders in the cell. `rowAt` may return undefined for rows not loaded yet;
 * `onVisible` reports the rows needed. Order and filter are the owner's.
 *
 * With `onRanges`, Shift with a movement or click extends a range from the cursor, Mod with a click or Space toggles a
 * row (Mod with an arrow only moves), and Mod+A selects all. With `menu`, a right click opens the row's menu at the
 * pointer, Shift+F10 and the menu key at the cursor. Rows with unchanged identity are not rendered again while
 * scrolling, and after a jump the new rows reuse the elements of the old ones.
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
  nextCell,
  type CellPosition,
  rangeBetween,
  type RowRange,
  type RowRanges,
  withRange,
  withToggled,
} from './grid-cells.ts';
import { later } from './later.tsx';
import type { MenuPoint, RowMenuGroups, RowMenuProps } from './row-menu.tsx';
import { useRowHeight } from './preferences.ts';
import { useVirtualRows, type VirtualRows } from './use-virtual-rows.ts';

const RowMenu = later(async () => (await import('./row-menu.tsx')).RowMenu);

/** A column of a grid. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Minimum width in pixels; with `grow` the column shares the remaining space. */
  readonly width: number;
  readonly grow?: number;
  /** Widest in pixels, instead of `grow`: on a wide screen text stays near what belongs to it. */
  readonly most?: number;
  readonly align?: 'end';
  /** `controls`: buttons and switches side by side; otherwise one line of text, truncated if necessary. */
  readonly holds?: 'controls';
  /** Present if the grid can be sorted by this column. */
  readonly sort?: { readonly direction: 'asc' | 'desc' | null; readonly toggle: () => void };
  readonly cell: (row: Row) => ReactNode;
}

/** Shows the menu of a row and cell. */
type RenderMenu = (index: number, column: string, shown: Omit<RowMenuProps, 'groups'>) => ReactNode;

interface DataGridProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  count: number;
  rowAt: (index: number) => Row | undefined;
  selected: number | null;
  onSelect: (index: number) => void;
  /** Selected rows, instead of `selected`. */
  ranges?: RowRanges;
  /** Called when the selection of rows changes. */
  onRanges?: (ranges: RowRanges) => void;
  /** Row to move the cursor to and scroll into view whenever this changes. */
  reveal?: number;
  /** Enter or double click. */
  onOpen?: (index: number) => void;
  /** Enter, F2 or double click on a cell, given its column id; replaces `onOpen` in editable grids. */
  onEdit?: (index: number, column: string) => void;
  /** The edited cell and its editor. The grid takes the focus back when it closes. */
  editing?: { readonly row: number; readonly column: string; readonly editor: ReactNode } | null;
  /** CSS class of a row by its state. */
  rowClass?: (row: Row) => string | undefined;
  /** Number of rows inserted at the top: cursor and view stay on their rows when it changes. */
  leading?: number;
  /** The menu of a row and cell; empty for a row not loaded. */
  menu?: (index: number, column: string) => RowMenuGroups;
  /** Shows the menu itself, in place of `menu`: one that is fetched when it is opened. */
  renderMenu?: RenderMenu;
  /** Other keys, with their row. */
  onKey?: (event: KeyboardEvent, index: number) => void;
  /** The visible rows, end exclusive. */
  onVisible?: (first: number, last: number) => void;
}

/** The cursor; its column by id, since columns come and go; null for the first. */
interface Cursor {
  readonly row: number;
  readonly column: string | null;
}

/** The grid tracks of the columns, and their minimum width in pixels. */
function layoutOf<Row>(columns: readonly Column<Row>[]): { template: CSSProperties; minWidth: number } {
  const tracks = columns.map(({ width, grow, most }) => {
    if (most !== undefined) return `minmax(${width}px, ${most}px)`;
    return grow === undefined ? `${width}px` : `minmax(${width}px, ${grow}fr)`;
  });
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
  /** Column of the active cell if it is in this row; else null. */
  activeColumn: number | null;
  /** The editor of a cell in this row; else null. */
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

/** Renders the cells of a row. Only the active cell has an id: nothing else needs one, and writing them costs time. */
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

/** Placeholder of a row not loaded: a single cell, since many pass while the scroll bar is dragged. */
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

// `memo` loses the type parameter.
const BodyRow = memo(PlainBodyRow) as typeof PlainBodyRow;

/** The cell of the grid in which an event occurred; null for none. */
function cellAt(target: EventTarget): CellPosition | null {
  if (!(target instanceof Element)) return null;
  // Right of the last column a row is that column.
  const cell =
    target.closest('[role="gridcell"]') ?? target.querySelector(':scope > [role="gridcell"]:last-child');
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

/** Reports the rendered rows, end exclusive, when they change. */
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

/** Moves the cursor to the row to reveal. */
function useRevealed(reveal: number | undefined, show: (row: number) => void): void {
  const onReveal = useEffectEvent(show);
  useEffect(() => {
    if (reveal !== undefined) onReveal(reveal);
  }, [reveal]);
}

/** Keeps the view in place when rows are inserted above. */
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

/** Rows have fixed positions in a block of at most this many; scrolling moves the block. */
const maxBlockRows = 4096;

/** First row of the block; changes after a jump, so that new rows reuse the elements of old ones. */
function useBlock(first: number, last: number): number {
  const [seen, setSeen] = useState({ first, last, block: first });
  if (seen.first === first && seen.last === last) return seen.block;
  const isLeap = first >= seen.last || last <= seen.first;
  const block = isLeap ? first - (seen.first - seen.block) : seen.block;
  const next = { first, last, block: Math.abs(first - block) > maxBlockRows ? first : block };
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

/** The cursor, which stays on its row when the number of leading rows changes. */
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

/** The cursor as a position among the current columns and rows. */
function placeOf<Row>(cursor: Cursor, columns: readonly Column<Row>[], count: number): CellPosition {
  const column = columns.findIndex(({ id }) => id === cursor.column);
  return { row: clamp(cursor.row, count - 1), column: clamp(column, columns.length - 1) };
}

/** Returns the focus to the grid when the editor that had it closes. */
function useFocusBack(isEditing: boolean, gridRef: RefObject<HTMLElement | null>): void {
  const wasEditing = useRef(false);
  useEffect(() => {
    const isOver = wasEditing.current && !isEditing;
    wasEditing.current = isEditing;
    // A removed focused element leaves the focus to the body; a focus moved elsewhere by the user stays there.
    if (isOver && document.activeElement === document.body) gridRef.current?.focus();
  }, [isEditing, gridRef]);
}

interface GridActs {
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  readonly onMouseDown: (event: MouseEvent<HTMLElement>) => void;
  readonly onClick: (event: MouseEvent) => void;
}

/**
 * Opens on a double click on the cell of its first click, whatever has moved under the pointer since: an opened pane
 * may narrow the grid or cover the cell. Hence the listener on the page; the second click has no other effect.
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
    // After the default effect of the click, such as selecting the row.
    setTimeout(() => onOpen(place));
  });
  useEffect(() => {
    const listener = (event: globalThis.MouseEvent) => onClick(event);
    window.addEventListener('click', listener, { capture: true });
    return () => window.removeEventListener('click', listener, { capture: true });
  }, []);
}

/** True for elements that handle clicks themselves. */
function isControl(target: Element): boolean {
  return target.closest('button, a, input, select, textarea, [role="switch"]') !== null;
}

/** The open menu: its cell and screen position. */
interface OpenMenu {
  readonly place: CellPosition;
  readonly at: MenuPoint;
}

interface GridMenu {
  readonly element: ReactNode;
  /** Returns true if the key opened the menu. */
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => boolean;
  readonly onContextMenu: (event: MouseEvent<HTMLElement>) => void;
}

function isMenuKey({ key, shiftKey }: KeyboardEvent): boolean {
  return key === 'ContextMenu' || (key === 'F10' && shiftKey);
}

interface RenderedMenuProps extends Omit<RowMenuProps, 'groups'> {
  render: RenderMenu;
  index: number;
  column: string;
}

function RenderedMenu({ render, index, column, ...shown }: RenderedMenuProps) {
  return render(index, column, shown);
}

/** The row menu. `take` moves the cursor to the cell and selects its row. */
function useRowMenu<Row>(
  { columns, count, menu, renderMenu, label, rowAt }: DataGridProps<Row>,
  active: CellPosition,
  take: (place: CellPosition) => void,
  gridRef: RefObject<HTMLElement | null>,
): GridMenu {
  const [open, setOpen] = useState<OpenMenu | null>(null);

  function show(place: CellPosition, at: MenuPoint): void {
    take(place);
    setOpen({ place, at });
  }

  /** Restores the focus; an item's action may move it afterwards. */
  function close(): void {
    setOpen(null);
    gridRef.current?.focus();
  }

  function menuOf({ place, at }: OpenMenu): ReactNode {
    const column = columns[place.column]?.id;
    if (column === undefined || rowAt(place.row) === undefined) return null;
    const name = `${label}: the row`;
    if (renderMenu !== undefined)
      return (
        <RenderedMenu
          render={renderMenu}
          index={place.row}
          column={column}
          label={name}
          at={at}
          onClose={close}
        />
      );
    const groups = menu?.(place.row, column) ?? [];
    const hasItems = groups.some((group) => group.length > 0);
    return hasItems ? <RowMenu label={name} at={at} groups={groups} onClose={close} /> : null;
  }

  const hasMenu = menu !== undefined || renderMenu !== undefined;
  return {
    element: open === null ? null : createPortal(menuOf(open), document.body),
    onKeyDown(event) {
      if (!hasMenu || count === 0 || !isMenuKey(event)) return false;
      event.preventDefault();
      const id = event.currentTarget.getAttribute('aria-activedescendant');
      const box = (id === null ? null : document.getElementById(id))?.getBoundingClientRect();
      const { left, bottom } = box ?? event.currentTarget.getBoundingClientRect();
      show(active, { x: left, y: bottom });
      return true;
    },
    onContextMenu(event) {
      const place = cellAt(event.target);
      if (!hasMenu || place === null) return;
      event.preventDefault();
      event.currentTarget.focus();
      show(place, { x: event.clientX, y: event.clientY });
    },
  };
}

/**
 * Meaning of going to a row: select it alone, extend the range, add to or remove from the selection; `move` selects
 * nothing.
 */
type Choice = 'one' | 'extend' | 'extend-more' | 'toggle' | 'all' | 'move';

function choiceOf(event: Pick<KeyboardEvent, 'shiftKey' | 'ctrlKey' | 'metaKey'>): Choice {
  const isMod = event.ctrlKey || event.metaKey;
  if (event.shiftKey) return isMod ? 'extend-more' : 'extend';
  return isMod ? 'toggle' : 'one';
}

/** Selects rows: one, or several if the owner supports it. */
function useChoosing<Row>(
  { count, selected, ranges = none, onSelect, onRanges }: DataGridProps<Row>,
  active: CellPosition,
): (row: number, choice: Choice) => void {
  /** Start of the current range, and the range. */
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

/** Handlers of keys and pointer. `go` moves the cursor. */
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

  /** The selection of a key that moves or is Space. */
  function keyChoice(event: KeyboardEvent): Choice {
    if (event.key === ' ') return event.ctrlKey || event.metaKey ? 'toggle' : 'one';
    const choice = choiceOf(event);
    if (choice !== 'toggle') return choice;
    return onRanges !== undefined && event.key.startsWith('Arrow') ? 'move' : 'one';
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (count === 0 || event.target !== event.currentTarget) return;
    // Rows that are ticked one by one take Space themselves.
    if (event.key === ' ' && onRanges === undefined) onKey?.(event, active.row);
    if (event.defaultPrevented) return;
    const next = nextCell(event, active, { rows: count, columns: columns.length, page: virtual.pageSize });
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
      // Selects rows; by default the browser would select text.
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

/** Shows the grid. */
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
