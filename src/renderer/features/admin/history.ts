/**
 * Readings of the metrics over the last minutes: numbers by name at each reading, and changes between
 * readings.
 *
 * Counters restart with the service. Changes across a restart are unknown and become a gap, not a negative
 * number; `isRestart` detects it. Readings of the last minutes belong to this window and are lost with it;
 * those of the last day come from the service.
 */
import { useEffect, useMemo } from 'react';
import { create } from 'zustand';
import { useMetricsHistoryText, useMetricsText } from '../../api/queries.ts';
import {
  type BoundCounts,
  bucketCountsOf,
  type MetricSample,
  type Quantile,
  quantileOfCounts,
  readMetrics,
  sumOf,
} from './prometheus.ts';

/** How often the metrics are read while visible, in milliseconds. */
export const metricsEveryMs = 3_000;
/** How long this window keeps its readings, in milliseconds. */
export const retentionMs = 15 * 60_000;

/** How often the service itself takes a reading, in milliseconds. */
const dayEveryMs = 5 * 60_000;
/** How long the service keeps its own readings, in milliseconds. */
export const dayMs = 24 * 3_600_000;

/** Counters: they only grow while the service runs. */
const counters = {
  asserted: 'service_facts_asserted_total',
  retracted: 'service_facts_retracted_total',
  fired: 'service_rules_fired_total',
  records: 'service_log_records_total',
  written: 'service_log_written_bytes_total',
  processor: 'process_cpu_seconds_total',
} as const;

/** Gauges: they go up and down. */
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

/** The counters, those computed from several metrics included. */
export type Counter =
  | keyof typeof counters
  | 'questions'
  | 'tools'
  | 'failedTools'
  | 'requests'
  | 'failedRequests';
/** The gauges. */
export type Gauge = keyof typeof gauges;

/** Durations measured as histograms, in seconds. */
const histograms = {
  inference: 'service_inference_duration_seconds',
  requests: 'service_http_request_duration_seconds',
  syncs: 'service_log_sync_duration_seconds',
} as const;
/** The durations measured as histograms. */
export type Durations = keyof typeof histograms;

const toolCalls = 'service_mcp_tool_call_duration_seconds_count';

/** A reading of the metrics; what the service does not measure is absent. */
export interface MetricsReading {
  /** Epoch ms. */
  readonly at: number;
  /** Expected time since the previous reading, in milliseconds. */
  readonly everyMs: number;
  readonly counts: Readonly<Partial<Record<Counter, number>>>;
  readonly levels: Readonly<Partial<Record<Gauge, number>>>;
  readonly durations: Readonly<Record<Durations, BoundCounts>>;
}

/**
 * Routes left out of the request counts: reading the metrics is a request too, and streams stay open for
 * hours.
 */
const unremarkable: ReadonlySet<string> = new Set(['/metrics', '/events', '/mcp', '/mcp/sse']);

function isRemarkable(labels: MetricSample['labels']): boolean {
  return !unremarkable.has(labels['route'] ?? '');
}

function requestCounts(samples: readonly MetricSample[]): Partial<Record<Counter, number>> {
  const name = `${histograms.requests}_count`;
  if (sumOf(samples, name) === null) return {};
  const counted = samples.filter((sample) => sample.name === name && isRemarkable(sample.labels));
  const sum = (those: readonly MetricSample[]) => those.reduce((total, { value }) => total + value, 0);
  return {
    requests: sum(counted),
    failedRequests: sum(counted.filter(({ labels }) => labels['status']?.startsWith('5') === true)),
  };
}

function present<Name extends string>(
  entries: readonly (readonly [Name, number | null])[],
): Partial<Record<Name, number>> {
  return Object.fromEntries(
    entries.filter(([, value]) => value !== null && Number.isFinite(value)),
  ) as Partial<Record<Name, number>>;
}

/** A reading made of the samples taken at `at`; `everyMs` as in a reading. */
export function readingOfMetrics(
  samples: readonly MetricSample[],
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
      inference: bucketCountsOf(samples, histograms.inference),
      requests: bucketCountsOf(samples, histograms.requests, isRemarkable),
      syncs: bucketCountsOf(samples, histograms.syncs),
    },
  };
}

/** The service's own readings, built from samples with timestamps, oldest first. */
export function readingsOfDay(samples: readonly MetricSample[]): MetricsReading[] {
  const moments = new Map<number, MetricSample[]>();
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

/**
 * The readings with a new one, without those older than `keptMs`. A reading that is not newer changes
 * nothing.
 */
export function withReading(
  readings: readonly MetricsReading[],
  next: MetricsReading,
): readonly MetricsReading[] {
  const last = readings.at(-1);
  if (last !== undefined && next.at <= last.at) return readings;
  return [...readings.filter(({ at }) => at >= next.at - retentionMs), next];
}

/** True if the process was restarted between the two readings. */
export function isRestart(before: MetricsReading, after: MetricsReading): boolean {
  const [was, is] = [before.levels.uptime, after.levels.uptime];
  if (was !== undefined && is !== undefined && is < was) return true;
  return (Object.keys(after.counts) as Counter[]).some(
    (name) => (after.counts[name] ?? 0) < (before.counts[name] ?? 0),
  );
}

/** When the service was last restarted, as far as the readings show; null: it was not. */
export function lastRestart(readings: readonly MetricsReading[]): number | null {
  for (let index = readings.length - 1; index > 0; index -= 1) {
    const [before, after] = [readings[index - 1], readings[index]];
    if (before !== undefined && after !== undefined && isRestart(before, after)) return after.at;
  }
  return null;
}

/** One value per reading, in order; null if unknown. */
export type Series = readonly (number | null)[];

/** The values of a gauge, one per reading. */
export function levelsOf(readings: readonly MetricsReading[], name: Gauge): Series {
  return readings.map(({ levels }) => levels[name] ?? null);
}

/** Readings further apart than this are not joined: the window slept, or the service was away. */
function longestStepMs({ everyMs }: MetricsReading): number {
  return Math.max(30_000, everyMs * 2);
}

/** Times and values for a chart; where readings are too far apart, every line gets a gap. */
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

/** How fast a counter grew since the previous reading, per second. */
export function ratesOf(readings: readonly MetricsReading[], name: Counter): Series {
  return readings.map((after, index) => {
    const before = readings[index - 1];
    if (before === undefined || after.at - before.at > longestStepMs(after) || isRestart(before, after))
      return null;
    const [was, is] = [before.counts[name], after.counts[name]];
    return was === undefined || is === undefined ? null : ((is - was) / (after.at - before.at)) * 1_000;
  });
}

/** How much a counter grew over all readings; a restarted process counts from 0. Null: not measured. */
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

/** The histogram's counts over these readings. */
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

/** The quantile `q` of a duration over these readings, in seconds; null if nothing was observed. */
export function quantileOver(
  readings: readonly MetricsReading[],
  name: Durations,
  q: number,
): Quantile | null {
  return quantileOfCounts(countsOver(readings, name), q);
}

/** Each quantile covers the last half minute; shorter spans seldom have enough observations. */
const quantileMs = 30_000;

/** The quantile over time, in seconds; values beyond the histogram's last bound are shown at that bound. */
export function quantilesOf(readings: readonly MetricsReading[], name: Durations, q: number): Series {
  let first = 0;
  return readings.map(({ at, everyMs }, index) => {
    const since = at - Math.max(quantileMs, everyMs * 1.5);
    while ((readings[first]?.at ?? at) < since) first += 1;
    return quantileOver(readings.slice(first, index + 1), name, q)?.value ?? null;
  });
}

interface History {
  readonly readings: readonly MetricsReading[];
}

const useReadings = create<History>()(() => ({ readings: [] }));

/** The metrics and their readings up to now. */
export interface MetricsNow {
  /** null: nothing read yet. */
  readonly samples: readonly MetricSample[] | null;
  readonly readings: readonly MetricsReading[];
  readonly error: unknown;
  readonly retry: () => void;
}

interface Read {
  readonly samples: readonly MetricSample[];
  readonly error: unknown;
}

function read(text: string | undefined): Read | null {
  if (text === undefined) return null;
  try {
    return { samples: readMetrics(text), error: null };
  } catch (error) {
    return { samples: [], error };
  }
}

/** The metrics, read every few seconds, with the readings of the last minutes. */
export function useMetrics(): MetricsNow {
  const metrics = useMetricsText(metricsEveryMs);
  const { data, dataUpdatedAt } = metrics;
  const found = useMemo(() => read(data), [data]);
  const readings = useReadings((state) => state.readings);
  useEffect(() => {
    if (found === null || found.error !== null) return;
    const next = readingOfMetrics(found.samples, dataUpdatedAt);
    useReadings.setState((state) => ({ readings: withReading(state.readings, next) }));
  }, [found, dataUpdatedAt]);
  return {
    samples: found === null || found.error !== null ? null : found.samples,
    readings,
    error: metrics.error ?? found?.error ?? null,
    retry: () => void metrics.refetch(),
  };
}

/** The readings of the last day up to now, if `isWanted`; `error` says why they could not be read. */
export function useDay(isWanted: boolean, now: MetricsNow): Pick<MetricsNow, 'readings' | 'error' | 'retry'> {
  const day = useMetricsHistoryText(isWanted, dayEveryMs);
  const found = useMemo(() => read(day.data), [day.data]);
  const { samples } = now;
  const readings = useMemo(() => {
    const stored = found === null || found.error !== null ? [] : readingsOfDay(found.samples);
    const last = now.readings.at(-1);
    if (samples === null || last === undefined) return stored;
    return [...stored.filter(({ at }) => at < last.at), { ...last, everyMs: dayEveryMs }];
  }, [found, samples, now.readings]);
  return { readings, error: day.error ?? found?.error ?? null, retry: () => void day.refetch() };
}
