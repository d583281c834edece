/** Pan and zoom geometry of the diagram. Pure, in screen pixels. */

/** Maps a point of the diagram to `x + k * its x`, `y + k * its y` on the screen. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly k: number;
}

/** A rectangle. */
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
export function limitedView(view: Viewport, screen: Extent, diagram: Extent): Viewport {
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
function centred(screen: Extent, diagram: Extent, k: number): Viewport {
  const x = (screen.width - diagram.width * k) / 2;
  return { k, x: Math.max(0, x), y: (screen.height - diagram.height * k) / 2 };
}

function scaleOfAll(screen: Extent, diagram: Extent): number {
  return Math.min(1, screen.width / diagram.width, screen.height / diagram.height);
}

/** Returns a view of the whole diagram, at most at full size; if that is too large, of the part around the cursor. */
export function fitted(screen: Extent, diagram: Extent, cursor: Box): Viewport {
  return showing(centred(screen, diagram, Math.max(minFit, scaleOfAll(screen, diagram))), screen, cursor, 0);
}

/** Returns the initial view: the whole diagram if readable, else its beginning with the root at the left. */
export function atRoot(screen: Extent, diagram: Extent, root: Box): Viewport {
  const whole = scaleOfAll(screen, diagram);
  const view = centred(screen, diagram, whole >= readableWhole ? whole : readable);
  const isAllSeen = diagram.height * view.k <= screen.height;
  return isAllSeen ? view : { ...view, y: screen.height / 2 - (root.top + root.height / 2) * view.k };
}

/** Returns the view moved minimally so that a box is visible. */
export function showing(view: Viewport, screen: Extent, box: Box, space = 16): Viewport {
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
export function seen(view: Viewport, screen: Extent): Box {
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

/** Returns true if two boxes intersect. */
export function meets(a: Box, b: Box): boolean {
  return (
    a.left <= b.left + b.width &&
    b.left <= a.left + a.width &&
    a.top <= b.top + b.height &&
    b.top <= a.top + a.height
  );
}
