/**
 * The readings of this window: taken while a view that needs them is visible, kept for a quarter of an hour.
 */
import { useEffect, useMemo } from 'react';
import { create } from 'zustand';
import { useMetricsHistoryText, useMetricsText } from '../../api/queries.ts';
import {
  dayEveryMs,
  metricsEveryMs,
  type MetricsReading,
  readingOfMetrics,
  readingsOfDay,
  withReading,
} from './history.ts';
import { readMetrics, type MetricSample } from './prometheus.ts';

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
