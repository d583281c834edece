/**
 * Measures the lag of the event loop: by how much a timer fires late.
 *
 * Anything that blocks the thread shows here, and every client feels it. Node's own measurement includes its interval
 * and restarts with every reader; here every reader gets the same values, of the last minute.
 */
export interface LagWatch {
  /** Seconds, over the last minute; all 0 before the first measurement. */
  summary(): LagSummary;
  stop(): void;
}

export interface LagSummary {
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stddev: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

const everyMs = 50;
const remembered = 60_000 / everyMs;

/** Calls `observe` with seconds, 0 if the timer was on time, until stopped. Keeps no process alive. */
export function watchLag(observe: (lag: number) => void): LagWatch {
  const lags: number[] = [];
  let looks = 0;
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const lag = Math.max(0, now - before - everyMs) / 1000;
    before = now;
    lags[looks++ % remembered] = lag;
    observe(lag);
  }, everyMs).unref();
  return {
    summary: () => lagSummaryOf(lags, lags[(looks - 1) % remembered] ?? 0),
    stop: () => clearInterval(timer),
  };
}

/**
 * The summary of these values, in any order; a percentile is the least value with that share of values at or below it.
 */
export function lagSummaryOf(values: readonly number[], last: number): LagSummary {
  const sorted = values.toSorted((one, other) => one - other);
  const count = Math.max(1, sorted.length);
  const percentile = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / count;
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count;
  return {
    last,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    mean,
    stddev: Math.sqrt(variance),
    p50: percentile(0.5),
    p90: percentile(0.9),
    p99: percentile(0.99),
  };
}
