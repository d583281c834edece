/**
 * Rows of one height, of which only the visible ones exist.
 *
 * Browsers cap the height of an element, so a list taller than that is scrolled in scale: the scroll bar covers
 * all rows, and the wheel still moves by the pixels it says. Since all rows are alike, nothing is kept of any of
 * them, however many there are. Leaves focus and selection to its callers.
 */
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Below every browser's cap (about 16.7 million pixels in the least). */
const greatestHeight = 10_000_000;

interface VirtualRowsOptions {
  count: number;
  rowHeight: number;
  scrollRef: RefObject<HTMLElement | null>;
  /** Height of what sticks to the top inside the scrolled element. */
  headerHeight?: number;
}

/** Rows beyond those that are seen: the browser scrolls by itself for a moment before the page hears of it. */
const overscan = 8;
/** In scale the wheel scrolls through the page, and whoever drags the bar leaps further than any overscan. */
const overscanInScale = 2;

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

/** The rows around what is seen, the last exclusive: so many more on either side. */
export function rowsAround(
  view: { readonly offset: number; readonly height: number },
  rows: { readonly count: number; readonly height: number; readonly overscan: number },
): { readonly first: number; readonly last: number } {
  if (view.height === 0) return { first: 0, last: 0 };
  const first = Math.floor(view.offset / rows.height) - rows.overscan;
  // One more, since a view that is between two rows shows a part of both.
  const last = Math.floor((view.offset + view.height) / rows.height) + 1 + rows.overscan;
  return { first: Math.max(0, Math.min(first, rows.count)), last: Math.max(0, Math.min(last, rows.count)) };
}

/** What is seen of an element: how far it is scrolled, and its height. `step`: scrolling by less is no difference; 0: all is. */
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
    // In the frame that is scrolled in, or it would show the place without its rows.
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

export function useVirtualRows(options: VirtualRowsOptions): VirtualRows {
  const { count, rowHeight, scrollRef, headerHeight = 0 } = options;
  const total = count * rowHeight;
  // In scale every pixel of the scroll bar moves the rows by another amount than it scrolls.
  const isScaled = total + headerHeight > greatestHeight;
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

  // What is scrolled further than the rows go is about to be brought back by the browser.
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
    height: Math.min(total, greatestHeight),
    scrollToRow,
    shiftBy,
    pageSize: Math.max(1, Math.floor((viewport - headerHeight) / rowHeight) - 1),
  };
}
