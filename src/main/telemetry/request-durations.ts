/**
 * The histogram of requests by method, route and status, on the path of every request.
 *
 * The library's own histogram concatenates the labels of each observation and looks up the text; this one finds a
 * series by nested look-ups, a tenth of the work. A scrape gets the same: cumulative buckets, sum and count of every
 * series, in the order in which they were first seen.
 */
import type { Registry } from 'prom-client';

interface Series {
  readonly labels: { readonly method: string; readonly route: string; readonly status: string };
  /** How many were at most as long as each bound and longer than the previous one; the last: longer than all. */
  readonly counts: Float64Array;
  sum: number;
}

interface Value {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A cumulative histogram with three labels. */
export class RequestDurations {
  readonly #name: string;
  readonly #bounds: readonly number[];
  readonly #routes = new Map<string, Map<string, Map<number, Series>>>();
  readonly #all: Series[] = [];

  /** `bounds`: of the buckets, ascending, in seconds. */
  constructor(name: string, help: string, bounds: readonly number[], registry: Registry) {
    this.#name = name;
    this.#bounds = bounds;
    const get = () => Promise.resolve({ name, help, type: 'histogram', values: this.#values() });
    // A registry calls only these two members of its metrics.
    registry.registerMetric({ name, get } as unknown as Parameters<Registry['registerMetric']>[0]);
  }

  /** Creates the series before there is anything to observe. */
  zero(method: string, route: string, status: number): void {
    this.#seriesOf(method, route, status);
  }

  observe(method: string, route: string, status: number, seconds: number): void {
    const series = this.#seriesOf(method, route, status);
    let at = 0;
    while (at < this.#bounds.length && seconds > (this.#bounds[at] as number)) at++;
    series.counts[at] = (series.counts[at] as number) + 1;
    series.sum += seconds;
  }

  #seriesOf(method: string, route: string, status: number): Series {
    let methods = this.#routes.get(route);
    if (methods === undefined) this.#routes.set(route, (methods = new Map()));
    let statuses = methods.get(method);
    if (statuses === undefined) methods.set(method, (statuses = new Map()));
    let series = statuses.get(status);
    if (series === undefined) {
      const labels = { method, route, status: String(status) };
      series = { labels, counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
      statuses.set(status, series);
      this.#all.push(series);
    }
    return series;
  }

  #values(): Value[] {
    return this.#all.flatMap(({ labels, counts, sum }) => {
      const metricName = `${this.#name}_bucket`;
      let count = 0;
      const buckets = Array.from(counts, (each, at) => {
        count += each;
        return { metricName, labels: { le: this.#bounds[at] ?? '+Inf', ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${this.#name}_sum`, labels, value: sum },
        { metricName: `${this.#name}_count`, labels, value: count },
      ];
    });
  }
}
