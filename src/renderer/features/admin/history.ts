/**
 * What the metrics said over the last minutes: numbers by name at each reading, and what happened between two readings.
 *
 * Counters begin anew when the service is started again. What happened in between is not known then, and is a gap, not
 * a number below zero; `isRestart` tells of it. Readings of the last minutes are of this window alone and go with it, those of
 * the last day are the service's.
 */
import {
  type BoundCounts,
  countsOf,
  type Quantile,
  quantileOfCounts,
  type Sample,
  sumOf,
} from './prometheus.ts';

/** How often the metrics are read while they are seen, in milliseconds. */
export const metricsEveryMs = 3_000;
/** How far back readings of this window are kept, in milliseconds. */
export const keptMs = 15 * 60_000;

/** How often the service takes a reading by itself, and for how long it keeps them. */
export const dayEveryMs = 5 * 60_000;
export const dayMs = 24 * 3_600_000;

/** Numbers that only grow while a service runs. */
const counters = {
  asserted: 'service_facts_asserted_total',
  retracted: 'service_facts_retracted_total',
  fired: 'service_rules_fired_total',
  records: 'service_log_records_total',
  written: 'service_log_written_bytes_total',
  processor: 'process_cpu_seconds_total',
} as const;

/** Numbers that go up and down. */
const gauges = {
  facts: 'service_memory_facts_total',
  conclusions: 'service_derived_conclusions',
  derivedBytes: 'service_derived_bytes',
  derivedBudget: 'service_derived_budget_bytes',
  lag: 'nodejs_eventloop_lag_p99_seconds',
  memory: 'process_resident_memory_bytes',
  storageReady: 'service_storage_ready',
  replicationRecords: 'service_replication_lag_records',
  replicationSeconds: 'service_replication_lag_seconds',
  uptime: 'service_uptime_seconds',
} as const;

export type Counter =
  | keyof typeof counters
  | 'questions'
  | 'tools'
  | 'failedTools'
  | 'requests'
  | 'failedRequests';
export type Gauge = keyof typeof gauges;

/** The durations that are measured, in seconds. */
const histograms = {
  inference: 'service_inference_duration_seconds',
  requests: 'service_http_request_duration_seconds',
  syncs: 'service_log_sync_duration_seconds',
} as const;
export type Durations = keyof typeof histograms;

const toolCalls = 'service_mcp_tool_call_duration_seconds_count';

/** A reading of the metrics; what the service does not measure is absent. */
export interface MetricsReading {
  /** Epoch ms. */
  readonly at: number;
  /** Ms to the reading before it, where readings are taken as they should be. */
  readonly everyMs: number;
  readonly counts: Readonly<Partial<Record<Counter, number>>>;
  readonly levels: Readonly<Partial<Record<Gauge, number>>>;
  readonly durations: Readonly<Record<Durations, BoundCounts>>;
}

/** Reading the metrics is a request too, and a stream of changes is open for hours: neither says how requests fare. */
const unremarkable: ReadonlySet<string> = new Set(['/metrics', '/events', '/mcp', '/mcp/sse']);

function isRemarkable(labels: Sample['labels']): boolean {
  return !unremarkable.has(labels['route'] ?? '');
}

function requestCounts(samples: readonly Sample[]): Partial<Record<Counter, number>> {
  const name = `${histograms.requests}_count`;
  if (sumOf(samples, name) === null) return {};
  const told = samples.filter((sample) => sample.name === name && isRemarkable(sample.labels));
  const sum = (those: readonly Sample[]) => those.reduce((total, { value }) => total + value, 0);
  return {
    requests: sum(told),
    failedRequests: sum(told.filter(({ labels }) => labels['status']?.startsWith('5') === true)),
  };
}

function present<Name extends string>(
  entries: readonly (readonly [Name, number | null])[],
): Partial<Record<Name, number>> {
  return Object.fromEntries(
    entries.filter(([, value]) => value !== null && Number.isFinite(value)),
  ) as Partial<Record<Name, number>>;
}

/** `everyMs` as in a reading. */
export function readingOfMetrics(
  samples: readonly Sample[],
  at: number,
  everyMs: number = metricsEveryMs,
): MetricsReading {
  const sums = <Name extends string>(names: Readonly<Record<Name, string>>) =>
    present((Object.keys(names) as Name[]).map((name) => [name, sumOf(samples, names[name])] as const));
  return {
    at,
    everyMs,
    counts: {
      ...sums(counters),
      ...present([
        ['questions', sumOf(samples, `${histograms.inference}_count`)],
        ['tools', sumOf(samples, toolCalls)],
        ['failedTools', sumOf(samples, toolCalls, { outcome: 'error' })],
      ] as const),
      ...requestCounts(samples),
    },
    levels: sums(gauges),
    durations: {
      inference: countsOf(samples, histograms.inference),
      requests: countsOf(samples, histograms.requests, isRemarkable),
      syncs: countsOf(samples, histograms.syncs),
    },
  };
}

/** The readings that the service took: samples with their times, in the order of these. */
export function readingsOfDay(samples: readonly Sample[]): MetricsReading[] {
  const moments = new Map<number, Sample[]>();
  for (const sample of samples) {
    const { at = 0 } = sample;
    const those = moments.get(at);
    if (those === undefined) moments.set(at, [sample]);
    else those.push(sample);
  }
  return Array.from(moments, ([at, those]) => readingOfMetrics(those, at, dayEveryMs)).toSorted(
    (left, right) => left.at - right.at,
  );
}

/** The readings with a new one, those that are too old left out. One that is not newer changes nothing. */
export function withReading(
  readings: readonly MetricsReading[],
  next: MetricsReading,
): readonly MetricsReading[] {
  const last = readings.at(-1);
  if (last !== undefined && next.at <= last.at) return readings;
  return [...readings.filter(({ at }) => at >= next.at - keptMs), next];
}

/** True where the process was started again between the two. */
export function isRestart(before: MetricsReading, after: MetricsReading): boolean {
  const [was, is] = [before.levels.uptime, after.levels.uptime];
  if (was !== undefined && is !== undefined && is < was) return true;
  return (Object.keys(after.counts) as Counter[]).some(
    (name) => (after.counts[name] ?? 0) < (before.counts[name] ?? 0),
  );
}

/** When the service was last started again, as far as the readings know; null: it was not. */
export function lastRestart(readings: readonly MetricsReading[]): number | null {
  for (let index = readings.length - 1; index > 0; index -= 1) {
    const [before, after] = [readings[index - 1], readings[index]];
    if (before !== undefined && after !== undefined && isRestart(before, after)) return after.at;
  }
  return null;
}

/** Per reading, in its order; null where it is not known. */
export type Series = readonly (number | null)[];

export function levelsOf(readings: readonly MetricsReading[], name: Gauge): Series {
  return readings.map(({ levels }) => levels[name] ?? null);
}

/** So far apart, readings do not belong together: the window was asleep, or the service away. */
function longestStepMs({ everyMs }: MetricsReading): number {
  return Math.max(30_000, everyMs * 2);
}

/** Times and values as a chart takes them: where no reading was taken for long there is a gap in every line. */
export function withGaps(
  readings: readonly MetricsReading[],
  series: readonly Series[],
): { readonly times: readonly number[]; readonly series: readonly Series[] } {
  const times: number[] = [];
  const joined: (number | null)[][] = series.map(() => []);
  for (const [index, reading] of readings.entries()) {
    const { at } = reading;
    const before = readings[index - 1]?.at ?? at;
    if (at - before > longestStepMs(reading)) {
      times.push(before + 1);
      for (const values of joined) values.push(null);
    }
    times.push(at);
    for (const [which, values] of joined.entries()) values.push(series[which]?.[index] ?? null);
  }
  return { times, series: joined };
}

/** How much a counter grew in a second, since the reading before. */
export function ratesOf(readings: readonly MetricsReading[], name: Counter): Series {
  return readings.map((after, index) => {
    const before = readings[index - 1];
    if (before === undefined || after.at - before.at > longestStepMs(after) || isRestart(before, after))
      return null;
    const [was, is] = [before.counts[name], after.counts[name]];
    return was === undefined || is === undefined ? null : ((is - was) / (after.at - before.at)) * 1_000;
  });
}

/** How much a counter grew over all readings; a process that was started again counts from 0. Null: not measured. */
export function growthOf(readings: readonly MetricsReading[], name: Counter): number | null {
  if (readings.every(({ counts }) => counts[name] === undefined)) return null;
  let growth = 0;
  for (const [index, after] of readings.entries()) {
    const before = readings[index - 1];
    if (before === undefined) continue;
    const from = isRestart(before, after) ? 0 : (before.counts[name] ?? 0);
    growth += (after.counts[name] ?? 0) - from;
  }
  return growth;
}

/** What a histogram counted over these readings. */
function countsOver(readings: readonly MetricsReading[], name: Durations): BoundCounts {
  const sum = new Map<number, number>();
  for (const [index, after] of readings.entries()) {
    const before = readings[index - 1];
    if (before === undefined) continue;
    const from = isRestart(before, after) ? new Map<number, number>() : before.durations[name];
    for (const [bound, count] of after.durations[name])
      sum.set(bound, (sum.get(bound) ?? 0) + count - (from.get(bound) ?? 0));
  }
  return sum;
}

/** The quantile `q` of what took its time over these readings, in seconds; null where nothing did. */
export function quantileOver(
  readings: readonly MetricsReading[],
  name: Durations,
  q: number,
): Quantile | null {
  return quantileOfCounts(countsOver(readings, name), q);
}

/** Quantiles are of the last half minute at each reading: of less there is seldom enough. */
const quantileMs = 30_000;

/** The quantile over time, in seconds. What lies beyond the last bound of the histogram is shown at it. */
export function quantilesOf(readings: readonly MetricsReading[], name: Durations, q: number): Series {
  let first = 0;
  return readings.map(({ at, everyMs }, index) => {
    const since = at - Math.max(quantileMs, everyMs * 1.5);
    while ((readings[first]?.at ?? at) < since) first += 1;
    return quantileOver(readings.slice(first, index + 1), name, q)?.value ?? null;
  });
}
