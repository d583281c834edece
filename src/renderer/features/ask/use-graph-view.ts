/** Pan and zoom of the graph of answers, by pointer, wheel and keys. */
import { type PointerEvent, type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react';
import { degreesOf, type EntityGraph } from './entity-graph.ts';

/** A point of the drawing. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A laid-out graph. */
export interface Placed {
  readonly graph: EntityGraph;
  readonly centres: ReadonlyMap<string, Point>;
  readonly width: number;
  readonly height: number;
}

/** Scale, and where the upper left corner of the drawing is on the screen. */
interface View {
  readonly x: number;
  readonly y: number;
  readonly k: number;
}

/** Below it names cannot be read; a graph opens no smaller. */
const READABLE = 0.55;

function mostLinked({ graph, centres }: Placed): Point {
  const degrees = degreesOf(graph.links);
  const [first] = graph.nodes.toSorted((left, right) => (degrees.get(right) ?? 0) - (degrees.get(left) ?? 0));
  return centres.get(first ?? '') ?? { x: 0, y: 0 };
}

/** The whole graph; if it is too large for the least scale, what is around its most linked node. */
function fittedView(
  placed: Placed,
  { width, height }: { width: number; height: number },
  least: number,
): View {
  const k = Math.min(1, Math.max(least, Math.min(width / placed.width, height / placed.height)));
  const isWhole = placed.width * k <= width && placed.height * k <= height;
  const middle = isWhole ? { x: placed.width / 2, y: placed.height / 2 } : mostLinked(placed);
  return { k, x: width / 2 - middle.x * k, y: height / 2 - middle.y * k };
}

function zoomedView(before: View, by: number, { x, y }: Point): View {
  const k = Math.min(3, Math.max(0.1, before.k * by));
  return { k, x: x - ((x - before.x) * k) / before.k, y: y - ((y - before.y) * k) / before.k };
}

/** Dragging; a press that hardly moves is a click. */
function useDrag(move: (by: Point) => void) {
  const drag = useRef<{ x: number; y: number; isMoving: boolean } | null>(null);
  const end = () => {
    drag.current = null;
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY, isMoving: false };
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const from = drag.current;
      if (from === null) return;
      const by = { x: event.clientX - from.x, y: event.clientY - from.y };
      if (!from.isMoving && Math.hypot(by.x, by.y) < 4) return;
      if (!from.isMoving) event.currentTarget.setPointerCapture(event.pointerId);
      drag.current = { x: event.clientX, y: event.clientY, isMoving: true };
      move(by);
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}

function useWheel(
  ref: RefObject<HTMLElement | null>,
  isDrawn: boolean,
  onWheel: (event: WheelEvent) => void,
): void {
  const turned = useEffectEvent(onWheel);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const listen = (event: WheelEvent) => {
      event.preventDefault();
      turned(event);
    };
    // Not passive, since the page must neither scroll nor zoom.
    element.addEventListener('wheel', listen, { passive: false });
    return () => element.removeEventListener('wheel', listen);
  }, [ref, isDrawn]);
}

/** How the graph is moved. */
export interface GraphPointing {
  readonly fit: () => void;
  readonly zoom: (by: number, at?: Point) => void;
  /** Moves the view as little as needed to show a point. */
  readonly show: (at: Point) => void;
}

/** Returns the view of a graph with its handlers; a node of two layouts in a row stays where it is on the screen. */
export function useGraphView(placed: Placed | null) {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View | null>(null);
  const last = useRef<Placed | null>(null);
  const size = () => ({ width: ref.current?.clientWidth ?? 0, height: ref.current?.clientHeight ?? 0 });
  const move = ({ x, y }: Point) =>
    setView((before) => before && { ...before, x: before.x + x, y: before.y + y });

  const onPlaced = useEffectEvent(() => {
    if (placed === null || placed === last.current) return;
    const common = placed.graph.nodes.find((node) => last.current?.centres.has(node));
    const [was, now] = [last.current?.centres.get(common ?? ''), placed.centres.get(common ?? '')];
    last.current = placed;
    if (was === undefined || now === undefined || view === null)
      setView(fittedView(placed, size(), READABLE));
    else move({ x: (was.x - now.x) * view.k, y: (was.y - now.y) * view.k });
  });
  useEffect(() => onPlaced(), [placed]);

  const pointing: GraphPointing = {
    fit: () => placed !== null && setView(fittedView(placed, size(), 0.15)),
    zoom(by, at) {
      const { width, height } = size();
      setView((before) => before && zoomedView(before, by, at ?? { x: width / 2, y: height / 2 }));
    },
    show({ x, y }) {
      const { width, height } = size();
      const within = (at: number, room: number) => Math.min(Math.max(at, 80), Math.max(80, room - 80)) - at;
      if (view !== null)
        move({ x: within(view.x + x * view.k, width), y: within(view.y + y * view.k, height) });
    },
  };
  useWheel(ref, placed !== null, (event) => {
    const box = ref.current?.getBoundingClientRect();
    const at = { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
    if (event.ctrlKey || event.metaKey) pointing.zoom(Math.exp(-event.deltaY * 0.004), at);
    else move({ x: -event.deltaX, y: -event.deltaY });
  });
  return { ref, view, dragging: useDrag(move), ...pointing };
}
