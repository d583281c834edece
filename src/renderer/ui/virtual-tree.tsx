/** An ARIA tree with one tab stop that renders only visible lines. The owner holds the cursor and what is folded. */
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useId, useRef } from 'react';
import { useRowHeight } from './preferences.ts';
import { useVirtualRows } from './use-virtual-rows.ts';
import styles from './virtual-tree.module.css';

/** What the tree knows of a line. */
interface TreeRow {
  readonly key: string;
  /** From 1. */
  readonly level: number;
  /** Position among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
}

/** Where a line is, and whether it has the cursor. */
export interface LinePlace {
  readonly id: string;
  readonly top: number;
  readonly isActive: boolean;
}

interface VirtualTreeProps<Row extends TreeRow> {
  label: string;
  rows: readonly Row[];
  /** Key of the line under the cursor. */
  active: string;
  /** `page`: number of lines in the view. */
  onKeyDown: (event: KeyboardEvent, page: number) => void;
  renderLine: (row: Row, place: LinePlace) => ReactNode;
}

/** Shows the lines as a tree, as high as its frame. */
export function VirtualTree<Row extends TreeRow>(props: VirtualTreeProps<Row>) {
  const { label, rows, active, onKeyDown, renderLine } = props;
  const rowHeight = useRowHeight();
  const scrollRef = useRef<HTMLDivElement>(null);
  const id = useId();
  const virtual = useVirtualRows({ count: rows.length, rowHeight, scrollRef });
  const activeIndex = rows.findIndex((row) => row.key === active);
  const isRendered = virtual.rows.some((row) => row.index === activeIndex);
  const showActive = useEffectEvent((index: number) => virtual.scrollToRow(index));
  useEffect(() => {
    if (activeIndex >= 0) showActive(activeIndex);
  }, [activeIndex]);

  return (
    <div
      ref={scrollRef}
      role="tree"
      tabIndex={0}
      aria-label={label}
      {...(isRendered ? { 'aria-activedescendant': `${id}-${activeIndex}` } : {})}
      className={styles.tree}
      onKeyDown={(event) => onKeyDown(event, virtual.pageSize)}
    >
      <div role="presentation" className={styles.body} style={{ height: virtual.height }}>
        {virtual.rows.map(({ index, top }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return renderLine(row, { id: `${id}-${index}`, top, isActive: index === activeIndex });
        })}
      </div>
    </div>
  );
}

interface TreeLineProps {
  row: TreeRow;
  place: LinePlace;
  /** null: nothing is below the line. */
  isUnfolded: boolean | null;
  className?: string | undefined;
  title?: string;
  onClick: () => void;
  onDoubleClick: () => void;
  children: ReactNode;
}

/** A line of the tree. */
export function TreeLine({ row, place, isUnfolded, className = '', title, ...rest }: TreeLineProps) {
  return (
    <div
      id={place.id}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={place.isActive}
      {...(isUnfolded === null ? {} : { 'aria-expanded': isUnfolded })}
      className={`${styles.line} ${className}`}
      style={{ transform: `translateY(${place.top}px)` }}
      title={title}
      {...rest}
    />
  );
}

/** The place of the mark that folds and unfolds a line; empty where nothing is below it. */
export function FoldMark({ onToggle, children }: { onToggle: (() => void) | null; children: ReactNode }) {
  if (onToggle === null)
    return (
      <span className={styles.fold} aria-hidden>
        {children}
      </span>
    );
  return (
    <span
      className={styles.fold}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
      aria-hidden
    >
      {children}
    </span>
  );
}
