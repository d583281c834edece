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
import { nodeOfStep, type PlacedDiagram } from './diagram.ts';
import { atRoot, fitted, limitedView, showing, type Viewport, zoomed } from './viewport.ts';

interface Screen {
  readonly width: number;
  readonly height: number;
}

/** Zoom factor of a key press or button. */
const zoomStep = 1.25;
/** Maximum pointer movement of a click, in pixels. */
const clickSlack = 4;

function useScreen(ref: RefObject<HTMLElement | null>): Screen | null {
  const [screen, setScreen] = useState<Screen | null>(null);
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
  screen: Screen,
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
    zoomOut: () => change((before) => zoomed(before, 1 / zoomStep, middle)),
    fit: () => {
      const cursor = diagram === null ? undefined : (nodeOfStep(diagram, active) ?? diagram.nodes[0]);
      if (screen !== null && diagram !== null && cursor !== undefined)
        setView(fitted(screen, diagram, cursor));
    },
  };
}
