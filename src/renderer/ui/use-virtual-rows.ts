/**
 * Rows of one height, of which only the visible ones exist.
 *
 * Browsers cap the height of an element, so a list taller than that is scrolled in scale: the scroll bar covers
 * all rows, and the wheel still moves by the pixels it says. Leaves focus and selection to its callers.
 */
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Below every browser's cap (about 16.7 million pixels in the least). */
const greatestHeight = 10_000_000;

interface VirtualRowsOptions {
  count: number;
  rowHeight: number;
  scrollRef: RefObject<HTMLElement | null>;
  /** Height of what sticks to the top inside the scrolled element. */
  headerHeight?: number;
  overscan?: number;
}

export interface VirtualRows {
  /** The rows to render; `top` in pixels inside an element of `height`. */
  rows: { index: number; top: number }[];
  height: number;
  scrollToRow(index: number): void;
  /** Keeps what is seen in its place where `rows` more stand before it; at the top one sees the first row. */
  shiftBy(rows: number): void;
  /** Rows that fit into the view. */
  pageSize: number;
}

/** Document pixels of scrolling that stand for one pixel of the scroll bar. */
export function scrollScale(total: number, viewport: number): number {
  return total <= greatestHeight ? 1 : (total - viewport) / (greatestHeight - viewport);
}

/** How far to scroll so that a row at `top` is seen, by the shortest way; null where it is seen already. */
export function offsetToShow(top: number, height: number, offset: number, visible: number): number | null {
  if (top < offset) return top;
  return top + height > offset + visible ? top + height - visible : null;
}

export function useVirtualRows(options: VirtualRowsOptions): VirtualRows {
  const { count, rowHeight, scrollRef, headerHeight = 0, overscan = 12 } = options;
  const total = count * rowHeight;
  const [viewport, setViewport] = useState(0);
  const scale = scrollScale(total + headerHeight, viewport);
  const scaleRef = useRef(scale);
  scaleRef.current = scale;

  const virtualizer: Virtualizer<HTMLElement, Element> = useVirtualizer<HTMLElement, Element>({
    count,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => rowHeight,
    overscan,
    observeElementOffset: (instance, report) => {
      const element = instance.scrollElement;
      if (element === null) return undefined;
      const onScroll = () => report(element.scrollTop * scaleRef.current, false);
      onScroll();
      element.addEventListener('scroll', onScroll, { passive: true });
      return () => element.removeEventListener('scroll', onScroll);
    },
  });

  // The virtualizer's own scrolling stops at the height of the element, which in scale is not that of the rows.
  function scrollToRow(index: number): void {
    const element = scrollRef.current;
    if (element === null) return;
    const visible = element.clientHeight - headerHeight;
    const target = offsetToShow(index * rowHeight, rowHeight, element.scrollTop * scaleRef.current, visible);
    if (target !== null) element.scrollTop = target / scaleRef.current;
  }

  function shiftBy(rows: number): void {
    const element = scrollRef.current;
    if (element !== null && element.scrollTop > 0) element.scrollTop += (rows * rowHeight) / scaleRef.current;
  }

  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);

  useEffect(() => {
    const element = scrollRef.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setViewport(element.clientHeight));
    observer.observe(element);
    const onWheel = (event: WheelEvent) => {
      if (scaleRef.current === 1 || event.deltaMode !== WheelEvent.DOM_DELTA_PIXEL || event.shiftKey) return;
      event.preventDefault();
      element.scrollTop += event.deltaY / scaleRef.current;
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener('wheel', onWheel);
    };
  }, [scrollRef]);

  const scrollTop = scrollRef.current?.scrollTop ?? 0;
  const shift = scrollTop - scrollTop * scale;
  return {
    rows: virtualizer.getVirtualItems().map((item) => ({ index: item.index, top: item.start + shift })),
    height: Math.min(total, greatestHeight),
    scrollToRow,
    shiftBy,
    pageSize: Math.max(1, Math.floor((viewport - headerHeight) / rowHeight) - 1),
  };
}
