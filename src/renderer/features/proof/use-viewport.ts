/**
 * Pan and zoom of the diagram by pointer, wheel and keys; the cursor always stays visible.
 *
 * After a new layout, the step under the cursor keeps its position on the screen.
 */
import {
  type PointerEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { type Box, nodeOfStep, type PlacedDiagram } from './diagram.ts';
import type { Size } from '../../ui/layout/proof-layout.ts';

/** Maps a point of the diagram to `x + k * its x`, `y + k * its y` on the screen. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly k: number;
}

const minScale = 0.05;
const maxScale = 2.5;
/** Minimum scale when fitting; below it nothing is readable. */
const minFit = 0.1;
/** Scale for partial views; a diagram that fits at this scale is shown whole. */
const readable = 0.9;
const readableWhole = 0.75;
/** Minimum part of the diagram that stays visible, in pixels. */
const keptInSight = 60;

function clamp(value: number, least: number, greatest: number): number {
  return Math.min(greatest, Math.max(least, value));
}

/** Returns the view limited so that the diagram stays visible. */
export function limitedView(view: Viewport, screen: Size, diagram: Size): Viewport {
  return {
    k: view.k,
    x: clamp(view.x, keptInSight - diagram.width * view.k, screen.width - keptInSight),
    y: clamp(view.y, keptInSight - diagram.height * view.k, screen.height - keptInSight),
  };
}

/** Returns the view zoomed by a factor around a fixed point. */
export function zoomed(view: Viewport, factor: number, at: { x: number; y: number }): Viewport {
  const k = clamp(view.k * factor, minScale, maxScale);
  const by = k / view.k;
  return { k, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by };
}

/** Centres the diagram at a scale; if it does not fit, shows its left edge. */
function centred(screen: Size, diagram: Size, k: number): Viewport {
  const x = (screen.width - diagram.width * k) / 2;
  return { k, x: Math.max(0, x), y: (screen.height - diagram.height * k) / 2 };
}

function scaleOfAll(screen: Size, diagram: Size): number {
  return Math.min(1, screen.width / diagram.width, screen.height / diagram.height);
}

/** Returns a view of the whole diagram, at most at full size; if that is too large, of the part around the cursor. */
export function fitted(screen: Size, diagram: Size, cursor: Box): Viewport {
  return showing(centred(screen, diagram, Math.max(minFit, scaleOfAll(screen, diagram))), screen, cursor, 0);
}

/** Returns the initial view: the whole diagram if readable, else its beginning with the root at the left. */
export function atRoot(screen: Size, diagram: Size & { readonly isDown?: boolean }, root: Box): Viewport {
  const whole = scaleOfAll(screen, diagram);
  const view = centred(screen, diagram, whole >= readableWhole ? whole : readable);
  if (diagram.isDown === true) {
    const isWide = diagram.width * view.k > screen.width;
    const x = isWide ? screen.width / 2 - (root.left + root.width / 2) * view.k : view.x;
    return { ...view, x, y: Math.max(0, view.y) };
  }
  const isAllSeen = diagram.height * view.k <= screen.height;
  return isAllSeen ? view : { ...view, y: screen.height / 2 - (root.top + root.height / 2) * view.k };
}

/** Returns the view moved minimally so that a box is visible. */
export function showing(view: Viewport, screen: Size, box: Box, space = 16): Viewport {
  const along = (at: number, offset: number, size: number, visible: number): number => {
    const start = offset + at * view.k - space;
    const end = offset + (at + size) * view.k + space;
    // Shows the start of a box larger than the screen.
    if (start < 0 || end - start > visible) return offset - start;
    return end > visible ? offset - (end - visible) : offset;
  };
  const x = along(box.left, view.x, box.width, screen.width);
  const y = along(box.top, view.y, box.height, screen.height);
  return x === view.x && y === view.y ? view : { ...view, x, y };
}

/** Returns the visible rectangle in diagram coordinates. */
export function seen(view: Viewport, screen: Size): Box {
  return {
    left: -view.x / view.k,
    top: -view.y / view.k,
    width: screen.width / view.k,
    height: screen.height / view.k,
  };
}

/** Returns a box extended outwards to multiples of a step; constant for movements within a step. */
export function inSteps({ left, top, width, height }: Box, step: number): Box {
  const rounded = (size: number) => (Math.ceil(size / step) + 3) * step;
  return {
    left: (Math.floor(left / step) - 1) * step,
    top: (Math.floor(top / step) - 1) * step,
    width: rounded(width),
    height: rounded(height),
  };
}

/** Zoom factor of a key press or button. */
const zoomStep = 1.25;
/** Maximum pointer movement of a click, in pixels. */
const clickSlack = 4;

/** Returns the size of an element; null before it is laid out. */
export function useScreen(ref: RefObject<HTMLElement | null>): Size | null {
  const [screen, setScreen] = useState<Size | null>(null);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const look = () => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width > 0 && height > 0) setScreen({ width, height });
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return screen;
}

/** The viewport after a change of the diagram or the cursor. */
function followed(
  before: Viewport | null,
  screen: Size,
  diagram: PlacedDiagram,
  last: PlacedDiagram | null,
  active: number,
): Viewport | null {
  const root = diagram.nodes[0];
  if (root === undefined) return before;
  const now = nodeOfStep(diagram, active) ?? root;
  const start = before ?? atRoot(screen, diagram, root);
  const was = last === null || last === diagram ? undefined : nodeOfStep(last, active);
  const moved =
    was === undefined
      ? start
      : {
          ...start,
          x: start.x + (was.left - now.left) * start.k,
          y: start.y + (was.top - now.top) * start.k,
        };
  return showing(moved, screen, now);
}

/** Dragging. A press that hardly moves is a click. */
function useDragging(move: (by: { x: number; y: number }) => void) {
  const drag = useRef<{ x: number; y: number; isMoving: boolean } | null>(null);
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY, isMoving: false };
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const from = drag.current;
      if (from === null) return;
      const by = { x: event.clientX - from.x, y: event.clientY - from.y };
      if (!from.isMoving && Math.hypot(by.x, by.y) < clickSlack) return;
      if (!from.isMoving) event.currentTarget.setPointerCapture(event.pointerId);
      drag.current = { x: event.clientX, y: event.clientY, isMoving: true };
      move(by);
    },
    onPointerUp: () => {
      drag.current = null;
    },
    onPointerCancel: () => {
      drag.current = null;
    },
  };
}

function useWheel(
  ref: RefObject<HTMLElement | null>,
  onWheel: (event: WheelEvent, rect: DOMRect) => void,
): void {
  const turned = useEffectEvent(onWheel);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const listen = (event: WheelEvent) => {
      event.preventDefault();
      turned(event, element.getBoundingClientRect());
    };
    // Not passive, since the page must neither scroll nor zoom.
    element.addEventListener('wheel', listen, { passive: false });
    return () => element.removeEventListener('wheel', listen);
  }, [ref]);
}

/** Returns viewport and handlers of the diagram. `active` is the step under the cursor. */
export function useViewport(
  ref: RefObject<HTMLElement | null>,
  diagram: PlacedDiagram | null,
  active: number,
) {
  const screen = useScreen(ref);
  const [view, setView] = useState<Viewport | null>(null);
  const last = useRef<PlacedDiagram | null>(null);
  const isScreenKnown = screen !== null;

  const follow = useEffectEvent(() => {
    if (diagram === null || screen === null) return;
    setView(followed(view, screen, diagram, last.current, active));
    last.current = diagram;
  });
  // A resize does not move the view.
  useLayoutEffect(() => follow(), [diagram, active, isScreenKnown]);

  function change(next: (before: Viewport) => Viewport): void {
    if (screen === null || diagram === null) return;
    setView((before) => (before === null ? null : limitedView(next(before), screen, diagram)));
  }
  const move = (by: { x: number; y: number }) =>
    change((before) => ({ ...before, x: before.x + by.x, y: before.y + by.y }));

  useWheel(ref, (event, rect) => {
    const scale = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const at = { x: event.clientX - rect.left, y: event.clientY - rect.top };
    if (event.ctrlKey || event.metaKey)
      change((before) => zoomed(before, Math.exp(-event.deltaY * scale * 0.004), at));
    else if (event.shiftKey) move({ x: -event.deltaY * scale, y: 0 });
    else move({ x: -event.deltaX * scale, y: -event.deltaY * scale });
  });

  const middle = { x: (screen?.width ?? 0) / 2, y: (screen?.height ?? 0) / 2 };
  return {
    screen,
    view,
    dragging: useDragging(move),
    zoomIn: () => change((before) => zoomed(before, zoomStep, middle)),
    /** Moves the view so that a point of the diagram is in its middle. */
    centreOn: (at: { x: number; y: number }) =>
      change((before) => ({ ...before, x: middle.x - at.x * before.k, y: middle.y - at.y * before.k })),
    zoomOut: () => change((before) => zoomed(before, 1 / zoomStep, middle)),
    fit: () => {
      const cursor = diagram === null ? undefined : (nodeOfStep(diagram, active) ?? diagram.nodes[0]);
      if (screen !== null && diagram !== null && cursor !== undefined)
        setView(fitted(screen, diagram, cursor));
    },
  };
}
