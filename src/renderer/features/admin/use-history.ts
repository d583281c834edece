/** The readings of this window: taken while a view that wants them is seen, kept for a quarter of an hour. */
import { useEffect, useMemo } from 'react';
import { create } from 'zustand';
import { useMetricsText } from '../../api/queries.ts';
import { type MetricsReading, readingOfMetrics, withReading } from './history.ts';
import { readMetrics, type Sample } from './prometheus.ts';

/** How often the metrics are read while they are seen, in milliseconds. */
export const metricsEveryMs = 3_000;

interface History {
  readonly readings: readonly MetricsReading[];
}

const useReadings = create<History>()(() => ({ readings: [] }));

export interface MetricsNow {
  /** null: nothing was read yet. */
  readonly samples: readonly Sample[] | null;
  readonly readings: readonly MetricsReading[];
  readonly error: unknown;
  readonly retry: () => void;
}

interface Read {
  readonly samples: readonly Sample[];
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
