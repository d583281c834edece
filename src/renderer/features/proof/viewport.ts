/** Where one looks at the diagram: how far it is moved and enlarged. Pure geometry, in pixels of the screen. */

/** A point of the diagram is seen at `x + k * its x`, `y + k * its y`. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly k: number;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface Extent {
  readonly width: number;
  readonly height: number;
}

const leastScale = 0.05;
const greatestScale = 2.5;
/** Below this nothing can be read, so that fitting stops there. */
const leastFit = 0.1;
/** The scale of what is read in parts, and the least at which all of it is shown at once. */
const readable = 0.9;
const readableWhole = 0.75;
/** At least this much of the diagram stays in sight. */
const keptInSight = 60;

function clamp(value: number, least: number, greatest: number): number {
  return Math.min(greatest, Math.max(least, value));
}

/** Not so far away that one would not find back. */
export function kept(view: Viewport, screen: Extent, diagram: Extent): Viewport {
  return {
    k: view.k,
    x: clamp(view.x, keptInSight - diagram.width * view.k, screen.width - keptInSight),
    y: clamp(view.y, keptInSight - diagram.height * view.k, screen.height - keptInSight),
  };
}

/** Enlarged by a factor; what is at a point of the screen stays there. */
export function zoomed(view: Viewport, factor: number, at: { x: number; y: number }): Viewport {
  const k = clamp(view.k * factor, leastScale, greatestScale);
  const by = k / view.k;
  return { k, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by };
}

/** In the middle at a scale; of what does not fit, its beginning at the left. */
function centred(screen: Extent, diagram: Extent, k: number): Viewport {
  const x = (screen.width - diagram.width * k) / 2;
  return { k, x: Math.max(0, x), y: (screen.height - diagram.height * k) / 2 };
}

function scaleOfAll(screen: Extent, diagram: Extent): number {
  return Math.min(1, screen.width / diagram.width, screen.height / diagram.height);
}

/** All of the diagram, not larger than it is; of one that is too large for that, what is around the cursor. */
export function fitted(screen: Extent, diagram: Extent, cursor: Box): Viewport {
  return showing(
    centred(screen, diagram, Math.max(leastFit, scaleOfAll(screen, diagram))),
    screen,
    cursor,
    0,
  );
}

/** Where one looks at first: at all of it where that can be read, else from the root on at the left. */
export function atRoot(screen: Extent, diagram: Extent, root: Box): Viewport {
  const whole = scaleOfAll(screen, diagram);
  const view = centred(screen, diagram, whole >= readableWhole ? whole : readable);
  const isAllSeen = diagram.height * view.k <= screen.height;
  return isAllSeen ? view : { ...view, y: screen.height / 2 - (root.top + root.height / 2) * view.k };
}

/** Moved by the shortest way so that a box is seen; the same view where it is. */
export function showing(view: Viewport, screen: Extent, box: Box, space = 16): Viewport {
  const along = (at: number, offset: number, size: number, visible: number): number => {
    const start = offset + at * view.k - space;
    const end = offset + (at + size) * view.k + space;
    // Of a box larger than the screen, its beginning.
    if (start < 0 || end - start > visible) return offset - start;
    return end > visible ? offset - (end - visible) : offset;
  };
  const x = along(box.left, view.x, box.width, screen.width);
  const y = along(box.top, view.y, box.height, screen.height);
  return x === view.x && y === view.y ? view : { ...view, x, y };
}

/** What is seen, in places of the diagram. */
export function seen(view: Viewport, screen: Extent): Box {
  return {
    left: -view.x / view.k,
    top: -view.y / view.k,
    width: screen.width / view.k,
    height: screen.height / view.k,
  };
}

/** At least what a box covers and one step around it; the same for all boxes of one size within a step. */
export function inSteps({ left, top, width, height }: Box, step: number): Box {
  const rounded = (size: number) => (Math.ceil(size / step) + 3) * step;
  return {
    left: (Math.floor(left / step) - 1) * step,
    top: (Math.floor(top / step) - 1) * step,
    width: rounded(width),
    height: rounded(height),
  };
}

/** True where the two have a point in common. */
export function meets(a: Box, b: Box): boolean {
  return (
    a.left <= b.left + b.width &&
    b.left <= a.left + a.width &&
    a.top <= b.top + b.height &&
    b.top <= a.top + a.height
  );
}
