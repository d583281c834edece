/**
 * How late the event loop is: a timer that says by how much it came later than it was due.
 *
 * What keeps the thread for long shows here, and is what every client feels. What Node measures by itself includes
 * its own interval and begins anew whenever it is read; from these every reader can make percentiles over any time.
 */
export interface LagWatch {
  stop(): void;
}

const everyMs = 50;

/** Calls `observe` with milliseconds, 0 where the timer was on time, until it is stopped. Keeps no process alive. */
export function watchLag(observe: (lagMs: number) => void): LagWatch {
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    observe(Math.max(0, now - before - everyMs));
    before = now;
  }, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
