/**
 * Virtual rows of one height: only visible rows are rendered.
 *
 * Browsers cap an element's height, so a taller list is scrolled in scale: the scroll bar covers all rows, and the
 * wheel still moves by its pixels. With equal heights no per-row state is needed. Focus and selection are the
 * caller's.
 */
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Below every browser's cap, the lowest being about 16.7 million pixels. */
const maxHeight = 10_000_000;

interface VirtualRowsOptions {
  count: number;
  rowHeight: number;
  scrollRef: RefObject<HTMLElement | null>;
  /** Height of the sticky header in the scrolled element. */
  headerHeight?: number;
}

/** Rows rendered beyond the visible ones: the browser scrolls before the page is notified. */
const overscan = 8;
/** Smaller in scale: the page handles the wheel, and dragging the bar jumps beyond any overscan. */
const overscanInScale = 2;

/** Rows to render and scroll functions. */
export interface VirtualRows {
  /** Rows to render; `top` is in pixels within an element of `height`. */
  rows: { index: number; top: number }[];
  height: number;
  scrollToRow(index: number): void;
  /** Keeps the visible rows in place after `rows` were inserted above; at the top, shows the first row. */
  shiftBy(rows: number): void;
  /** Rows that fit into the view. */
  pageSize: number;
}

/** Returns the document pixels per pixel of the scroll bar. */
export function scrollScale(total: number, viewport: number): number {
  return total <= maxHeight ? 1 : (total - viewport) / (maxHeight - viewport);
}

/** Returns the nearest offset that shows a row at `top`; null if it is visible. */
export function offsetToShow(top: number, height: number, offset: number, visible: number): number | null {
  if (top < offset) return top;
  return top + height > offset + visible ? top + height - visible : null;
}

/** Returns the range of rows to render, end exclusive: the visible ones plus the overscan on both sides. */
export function rowsAround(
  view: { readonly offset: number; readonly height: number },
  rows: { readonly count: number; readonly height: number; readonly overscan: number },
): { readonly first: number; readonly last: number } {
  if (view.height === 0) return { first: 0, last: 0 };
  const first = Math.floor(view.offset / rows.height) - rows.overscan;
  // One more, since a view between two rows shows a part of both.
  const last = Math.floor((view.offset + view.height) / rows.height) + 1 + rows.overscan;
  return { first: Math.max(0, Math.min(first, rows.count)), last: Math.max(0, Math.min(last, rows.count)) };
}

/** Scroll offset and height of an element. `step`: smaller scroll distances are ignored; 0 ignores none. */
function useScrolled(
  scrollRef: RefObject<HTMLElement | null>,
  step: number,
): { scrollTop: number; viewport: number } {
  const [viewport, setViewport] = useState(0);
  const [scrollTop, setScrollTop] = useState(0);
  useLayoutEffect(() => {
    const element = scrollRef.current;
    if (element === null) return undefined;
    const onResize = () => setViewport(element.clientHeight);
    const look = () =>
      setScrollTop(step === 0 ? element.scrollTop : element.scrollTop - (element.scrollTop % step));
    // Synchronously within the frame, or the new position would show without its rows.
    const onScroll = () => flushSync(look);
    onResize();
    look();
    const observer = new ResizeObserver(onResize);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [scrollRef, step]);
  return { scrollTop, viewport };
}

/** Returns the virtual rows of a scrolled element. */
export function useVirtualRows(options: VirtualRowsOptions): VirtualRows {
  const { count, rowHeight, scrollRef, headerHeight = 0 } = options;
  const total = count * rowHeight;
  // In scale, one pixel of the scroll bar moves the rows by more than one pixel.
  const isScaled = total + headerHeight > maxHeight;
  const { scrollTop, viewport } = useScrolled(scrollRef, isScaled ? 0 : rowHeight);
  const scale = scrollScale(total + headerHeight, viewport);

  function scrollToRow(index: number): void {
    const element = scrollRef.current;
    if (element === null) return;
    const visible = element.clientHeight - headerHeight;
    const target = offsetToShow(index * rowHeight, rowHeight, element.scrollTop * scale, visible);
    if (target !== null) element.scrollTop = target / scale;
  }

  function shiftBy(rows: number): void {
    const element = scrollRef.current;
    if (element !== null && element.scrollTop > 0) element.scrollTop += (rows * rowHeight) / scale;
  }

  const onWheel = useEffectEvent((element: HTMLElement, event: WheelEvent) => {
    if (!isScaled || event.deltaMode !== WheelEvent.DOM_DELTA_PIXEL || event.shiftKey) return;
    event.preventDefault();
    element.scrollTop += event.deltaY / scale;
  });
  useEffect(() => {
    const element = scrollRef.current;
    if (element === null) return undefined;
    const listener = (event: WheelEvent) => onWheel(element, event);
    element.addEventListener('wheel', listener, { passive: false });
    return () => element.removeEventListener('wheel', listener);
  }, [scrollRef]);

  // The browser is about to correct an offset beyond the rows.
  const offset = Math.min(scrollTop * scale, Math.max(0, total + headerHeight - viewport));
  const { first, last } = rowsAround(
    { offset, height: viewport },
    { count, height: rowHeight, overscan: isScaled ? overscanInScale : overscan + 1 },
  );
  const shift = scrollTop - scrollTop * scale;
  return {
    rows: Array.from({ length: last - first }, (_, at) => ({
      index: first + at,
      top: (first + at) * rowHeight + shift,
    })),
    height: Math.min(total, maxHeight),
    scrollToRow,
    shiftBy,
    pageSize: Math.max(1, Math.floor((viewport - headerHeight) / rowHeight) - 1),
  };
}
