import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { useRowHeight } from './preferences.ts';
import { useVirtualRows } from './use-virtual-rows.ts';
import styles from './virtual-list.module.css';

interface VirtualListProps {
  label: string;
  count: number;
  /** Index of the selected item; -1 for none. */
  selected: number;
  onSelect: (index: number) => void;
  render: (index: number) => ReactNode;
}

function nextIndex(key: string, active: number, count: number, page: number): number | null {
  const moves: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: count - 1,
  };
  const target = moves[key];
  return target === undefined ? null : Math.max(0, Math.min(count - 1, target));
}

/**
 * Shows a list with one selection and renders only visible items.
 *
 * Follows the ARIA listbox pattern with true counts: arrows, Home, End and Page keys move, Enter and Space choose.
 */
export function VirtualList({ label, count, selected, onSelect, render }: VirtualListProps) {
  const rowHeight = useRowHeight();
  const scrollRef = useRef<HTMLDivElement>(null);
  const id = useId();
  const [place, setPlace] = useState(Math.max(0, selected));
  const virtual = useVirtualRows({ count, rowHeight, scrollRef });
  const active = Math.max(0, Math.min(count - 1, place));

  function onKeyDown(event: KeyboardEvent): void {
    if (count === 0) return;
    const next = nextIndex(event.key, active, count, virtual.pageSize);
    if (next !== null) {
      event.preventDefault();
      setPlace(next);
      virtual.scrollToRow(next);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      onSelect(active);
    }
  }

  const isRendered = virtual.rows.some((row) => row.index === active);
  return (
    <div
      ref={scrollRef}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      {...(isRendered ? { 'aria-activedescendant': `${id}-${active}` } : {})}
      className={styles.list}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" className={styles.body} style={{ height: virtual.height }}>
        {virtual.rows.map(({ index, top }) => (
          <div
            key={index}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
            aria-setsize={count}
            aria-posinset={index + 1}
            className={`${styles.option} ${index === active ? styles.active : ''}`}
            style={{ transform: `translateY(${top}px)` }}
            onClick={() => {
              setPlace(index);
              onSelect(index);
            }}
          >
            {render(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
