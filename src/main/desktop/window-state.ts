/**
 * The bounds of a window, restored within the current screens.
 *
 * Screens may change between two starts and while a window is open: it is never left where the user cannot reach it. A
 * window has a state for each arrangement of screens, so that it returns to its place at a desk. Coordinates are
 * Electron's device-independent pixels.
 */

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface WindowState {
  readonly bounds: Rectangle;
  readonly maximized: boolean;
  readonly fullScreen: boolean;
}

/** The states of a window by arrangement of the screens, the latest first. */
export type WindowStates = readonly (WindowState & { readonly screens: string })[];

export const smallestWindow = { width: 800, height: 560 } as const;
const defaultWindow = { width: 1280, height: 860 } as const;
/** How much of a window's top edge must be on a screen so that the user can drag it. */
const grip = { width: 120, height: 32 } as const;

/** At most so many arrangements are remembered. */
const maxArrangements = 8;
/** How far a further window opens from the one in front of it, in both directions. */
const cascade = 32;

/** Identifies an arrangement of screens by their work areas. */
export function screensOf(workAreas: readonly Rectangle[]): string {
  return workAreas
    .map(({ x, y, width, height }) => `${width}x${height}+${x}+${y}`)
    .toSorted()
    .join(' ');
}

/** Returns the state for this arrangement, else the latest one; null if there is none. */
export function stateOn(states: WindowStates, screens: string): WindowState | null {
  return states.find((state) => state.screens === screens) ?? states[0] ?? null;
}

/** Returns the states with another one for this arrangement. */
export function withState(states: WindowStates, screens: string, state: WindowState): WindowStates {
  const others = states.filter((other) => other.screens !== screens);
  return [{ ...state, screens }, ...others].slice(0, maxArrangements);
}

/** The state of a further window: as large as the one in front, and a little below and to the right of it. */
export function besideWindow(front: Rectangle): WindowState {
  return {
    bounds: { ...front, x: front.x + cascade, y: front.y + cascade },
    maximized: false,
    fullScreen: false,
  };
}

/**
 * The state to open with: the saved one if the title bar is reachable on one of the work areas (the primary screen's
 * first), else centred on the primary screen. Never larger than the screen.
 */
export function restoreWindow(saved: WindowState | null, workAreas: readonly Rectangle[]): WindowState {
  const [primary] = workAreas;
  const first: WindowState = {
    bounds: { x: 0, y: 0, ...defaultWindow },
    maximized: false,
    fullScreen: false,
  };
  if (primary === undefined) return saved ?? first;
  if (saved === null) return { ...first, bounds: centred(defaultWindow, primary) };
  const area = workAreas.find((candidate) => isReachable(saved.bounds, candidate));
  return {
    ...saved,
    bounds: area === undefined ? centred(saved.bounds, primary) : within(saved.bounds, area),
  };
}

/** Larger differences are the window manager's choice of a place, not its frame. */
const maxFrame = 64;

/**
 * The bounds to remember, as the next start has to request them. Under X11 a position is requested for the window's
 * frame and reported for what is inside it: the difference, seen when the window was `shown` as `requested`, is
 * subtracted again, or the window would creep down at every start.
 */
export function withoutFrame(
  bounds: Rectangle,
  { requested, shown }: { readonly requested: Rectangle; readonly shown: Rectangle | null },
): Rectangle {
  if (shown === null) return bounds;
  const x = shown.x - requested.x;
  const y = shown.y - requested.y;
  const isFrame = x >= 0 && y >= 0 && x <= maxFrame && y <= maxFrame;
  return isFrame ? { ...bounds, x: bounds.x - x, y: bounds.y - y } : bounds;
}

/** The saved states from a file's content, without the invalid ones. An earlier version saved one, and no screens. */
export function parseWindowStates(value: unknown): WindowStates {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((each) => parseWindowState(each) ?? []).slice(0, maxArrangements);
}

function parseWindowState(value: unknown): WindowStates[number] | null {
  if (!isRecord(value) || !isRecord(value['bounds'])) return null;
  const { x, y, width, height } = value['bounds'];
  if (!isPixels(x) || !isPixels(y) || !isPixels(width) || !isPixels(height)) return null;
  if (width < 1 || height < 1) return null;
  const { screens, maximized, fullScreen } = value;
  return {
    screens: typeof screens === 'string' ? screens : '',
    bounds: { x, y, width, height },
    maximized: maximized === true,
    fullScreen: fullScreen === true,
  };
}

function isReachable(bounds: Rectangle, area: Rectangle): boolean {
  const left = Math.max(bounds.x, area.x);
  const right = Math.min(bounds.x + bounds.width, area.x + area.width);
  const isGripHigh = bounds.y >= area.y && bounds.y + grip.height <= area.y + area.height;
  return isGripHigh && right - left >= Math.min(grip.width, bounds.width);
}

function within(bounds: Rectangle, area: Rectangle): Rectangle {
  const { width, height } = fitted(bounds, area);
  return { x: bounds.x, y: bounds.y, width, height };
}

function centred(size: { width: number; height: number }, area: Rectangle): Rectangle {
  const { width, height } = fitted(size, area);
  return {
    x: area.x + Math.round((area.width - width) / 2),
    y: area.y + Math.round((area.height - height) / 2),
    width,
    height,
  };
}

function fitted(size: { width: number; height: number }, area: Rectangle): { width: number; height: number } {
  return {
    width: Math.min(Math.max(size.width, smallestWindow.width), area.width),
    height: Math.min(Math.max(size.height, smallestWindow.height), area.height),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isPixels(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) < 1_000_000;
}

/** This many crashes within this time are a loop. */
const maxEnds = 3;
const withinMs = 60_000;

/** Detects a page that crashes again and again: it is not reloaded until the user says so. */
export class CrashLoop {
  #ends: number[] = [];

  /** Notes a crash at `now` (milliseconds of any monotonic clock). True: it is the third in a minute. */
  note(now: number): boolean {
    this.#ends = [...this.#ends.filter((end) => now - end < withinMs), now];
    return this.#ends.length >= maxEnds;
  }
}
