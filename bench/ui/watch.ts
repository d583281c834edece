/**
 * The measurements inside the page. Each function is passed to the browser as source and may use nothing around it.
 *
 * An element counts as shown when the frame that contains it is painted: in the first task after the animation frame
 * that found it in the document.
 */

/** Adds `painted` to the page: resolves when an element that a selector names has been painted. */
export function watchPainting(): void {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const task = () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener('message', resolve);
      port1.start();
      port2.postMessage(null);
    });
  const painted = async (selector: string): Promise<void> => {
    do await frame();
    while (document.querySelector(selector) === null);
    await task();
  };
  Object.assign(window, { painted });
}

/** Milliseconds until an element that `selector` names is painted, after setting the new hash of the address. */
export async function showByHash({ hash, selector }: { hash: string; selector: string }): Promise<number> {
  const { painted } = window as unknown as { painted: (selector: string) => Promise<void> };
  const startedAt = performance.now();
  location.hash = hash;
  await painted(selector);
  return performance.now() - startedAt;
}

/** Milliseconds from now until an element that `selector` names is painted. */
export async function shown({ selector }: { selector: string }): Promise<number> {
  const { painted } = window as unknown as { painted: (selector: string) => Promise<void> };
  const startedAt = performance.now();
  await painted(selector);
  return performance.now() - startedAt;
}

/**
 * Milliseconds until an element that `selector` names is painted, after scrolling to a fraction (0 to 1) of the whole.
 */
export async function showByScroll({
  scrolled,
  part,
  selector,
}: {
  scrolled: string;
  part: number;
  selector: string;
}): Promise<number> {
  const { painted } = window as unknown as { painted: (selector: string) => Promise<void> };
  const element = document.querySelector(scrolled);
  if (element === null) throw new Error(`nothing is ${scrolled}`);
  const startedAt = performance.now();
  element.scrollTop = (element.scrollHeight - element.clientHeight) * part;
  await painted(selector);
  return performance.now() - startedAt;
}

/**
 * From now on: `keyToPaint()` returns the milliseconds from the last press of a key, by the event's time, until
 * `selector` was painted.
 */
export function watchKeys({ selector }: { selector: string }): void {
  const { painted } = window as unknown as { painted: (selector: string) => Promise<void> };
  const modifiers = ['Control', 'Shift', 'Alt', 'Meta'];
  let latest: Promise<number> = Promise.reject(new Error('no key was pressed'));
  latest.catch(() => undefined);
  window.addEventListener(
    'keydown',
    ({ key, timeStamp }) => {
      if (!modifiers.includes(key)) latest = painted(selector).then(() => performance.now() - timeStamp);
    },
    { capture: true },
  );
  Object.assign(window, { keyToPaint: () => latest });
}

/** From now on: `clickToPaint()` returns the milliseconds from the last click until `selector` was painted. */
export function watchClicks({ selector }: { selector: string }): void {
  let clickedAt = 0;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  window.addEventListener('pointerdown', () => (clickedAt = performance.now()), { capture: true });
  Object.assign(window, {
    clickToPaint: async () => {
      while (clickedAt === 0 || document.querySelector(selector) === null) await frame();
      await frame();
      await frame();
      const took = performance.now() - clickedAt;
      clickedAt = 0;
      return took;
    },
  });
}

/** When the browser had the last answer whose address ends like this, and what painting has taken since. */
export function sinceAnswer({ ending }: { ending: string }): number {
  const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  const last = entries.filter(({ name }) => name.endsWith(ending)).at(-1);
  return performance.now() - (last?.responseEnd ?? performance.now());
}

export interface Frames {
  readonly count: number;
  readonly longest: number;
  /** The 99th percentile. */
  readonly p99: number;
  readonly over50: number;
}

/** From now on frames are timed; `framesSoFar()` returns and resets them. */
export function watchFrames(): void {
  let times: number[] = [];
  let before = performance.now();
  function next(now: number): void {
    times.push(now - before);
    before = now;
    requestAnimationFrame(next);
  }
  requestAnimationFrame(next);
  Object.assign(window, {
    framesSoFar: (): Frames => {
      const sorted = times.sort((left, right) => left - right);
      times = [];
      return {
        count: sorted.length,
        longest: sorted.at(-1) ?? 0,
        p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
        over50: sorted.filter((time) => time > 50).length,
      };
    },
  });
}

/** Drags the scroll bar of the grid through all rows and back: a new position in every frame, for this many frames. */
export async function dragThrough({ selector, frames }: { selector: string; frames: number }): Promise<void> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const element = document.querySelector(selector);
  if (element === null) throw new Error(`nothing is ${selector}`);
  const height = element.scrollHeight - element.clientHeight;
  for (let at = 0; at < frames; at += 1) {
    element.scrollTop = (height * (1 - Math.cos((2 * Math.PI * at) / frames))) / 2;
    await frame();
  }
}

/** From now on tasks of the main thread that take 50 ms or more are recorded, for `longTasks`. */
export function watchLongTasks(): void {
  const lengths: number[] = [0];
  Object.assign(window, { longTaskLengths: lengths });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) lengths.push(duration);
  }).observe({ type: 'longtask' });
}

/** The longest recorded task, in milliseconds; 0 if none took so long. */
export function longTasks(): number {
  return Math.max(...(window as unknown as { longTaskLengths: readonly number[] }).longTaskLengths);
}
