import { Button, Loader, NumberInput, SegmentedControl, Slider } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import type { MemoryStats } from '../../../engine/contract/memory.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { Histogram, HistogramTable, SalienceAxis } from './histogram.tsx';
import { forecasts, horizons, type MemorySearch, thresholdOf, defaultThreshold } from './memory-search.ts';
import { type useEvictable, useForecast } from './use-memory.ts';
import styles from './memory.module.css';

/** Delay after the last move of the threshold, in milliseconds. */
const settleMs = 300;

/** The threshold while it moves, and its setter; the address follows when it settles. */
function useThreshold(search: MemorySearch, onSearch: (part: Partial<MemorySearch>) => void) {
  const settled = thresholdOf(search);
  const [moved, setMoved] = useState(settled);
  useEffect(() => setMoved(settled), [settled]);
  const settle = useDebouncedCallback((threshold: number) => {
    onSearch({ threshold: threshold === defaultThreshold ? undefined : String(threshold) });
  }, settleMs);
  function move(threshold: number): void {
    setMoved(threshold);
    settle(threshold);
  }
  return { moved, move, isSettled: moved === settled };
}

interface EvictableProps {
  evictable: ReturnType<typeof useEvictable>;
  isSettled: boolean;
  isListed: boolean;
  onList: () => void;
}

function Evictable({ evictable, isSettled, isListed, onList }: EvictableProps) {
  const { data, error, isPlaceholderData, refetch } = evictable;
  if (error !== null) return <ProblemNotice failure={apiFailureOf(error)} onRetry={() => void refetch()} />;
  const isCurrent = data !== undefined && isSettled && !isPlaceholderData;
  return (
    <div className={styles.evictable}>
      <p role="status" className={`flex-row gap-6 ${styles.verdict}`}>
        {isCurrent ? (
          <>
            Would evict <strong>{formatAmount(data.evicted, 'fact')}</strong>
          </>
        ) : (
          <>
            <Loader size={12} aria-hidden /> Looking for what would go
          </>
        )}
      </p>
      {isCurrent && (
        <p className="dim">
          {formatCount(data.lowSalience)} faded, {formatCount(data.expired)} expired ·{' '}
          {formatCount(data.remaining)} would remain
        </p>
      )}
      <Button variant="default" disabled={isListed} onClick={onList}>
        {isListed ? 'Listed below' : 'List them'}
      </Button>
    </div>
  );
}

interface ExpiringProps {
  expiring: MemoryStats['expiring'];
  search: MemorySearch;
  onSearch: (part: Partial<MemorySearch>) => void;
}

function Expiring({ expiring, search, onSearch }: ExpiringProps) {
  const counts = { hour: expiring.within1h, day: expiring.within24h, week: expiring.within7d };
  const words = { hour: 'an hour', day: 'a day', week: 'a week' };
  return (
    <div
      className={`flex-row gap-4-6 flex-wrap ${styles.expiring}`}
      role="group"
      aria-label="Facts that expire"
    >
      <span className="dim">Expiring within</span>
      {horizons.map((horizon) => (
        <button
          key={horizon}
          type="button"
          className={styles.count}
          aria-pressed={search.part === 'expiring' && (search.within ?? 'day') === horizon}
          onClick={() => onSearch({ part: 'expiring', within: horizon === 'day' ? undefined : horizon })}
        >
          <span>{words[horizon]}</span> <strong className="number">{formatCount(counts[horizon])}</strong>
        </button>
      ))}
    </div>
  );
}

interface ThresholdProps {
  threshold: number;
  onThreshold: (threshold: number) => void;
}

function ThresholdField({ threshold, onThreshold }: ThresholdProps) {
  return (
    <NumberInput
      label="Evict below"
      description="The threshold of salience"
      min={0}
      max={1}
      step={0.01}
      decimalScale={4}
      clampBehavior="strict"
      value={threshold}
      onChange={(value) => {
        if (typeof value === 'number') onThreshold(value);
      }}
    />
  );
}

function ThresholdSlider({ threshold, onThreshold }: ThresholdProps) {
  return (
    <Slider
      className={styles.slider ?? ''}
      size={4}
      thumbSize={16}
      color="red"
      min={0}
      max={1}
      step={0.01}
      label={null}
      thumbLabel="Threshold of salience"
      value={threshold}
      onChange={onThreshold}
    />
  );
}

interface OverviewProps {
  stats: MemoryStats;
  evictable: ReturnType<typeof useEvictable>;
  search: MemorySearch;
  onSearch: (part: Partial<MemorySearch>) => void;
}

interface FigureProps extends Pick<OverviewProps, 'stats' | 'search' | 'onSearch'> {
  threshold: number;
  onThreshold: (threshold: number) => void;
}

const whenWords = { '1': 'in a day', '7': 'in 7 days', '30': 'in 30 days' } as const;

/** The histogram of now or, in the outline of now, as it will be. */
function Figure({ stats, search, onSearch, threshold, onThreshold }: FigureProps) {
  const [look, setLook] = useState('bars');
  const { ahead } = search;
  const forecast = useForecast(ahead);
  // Until it has arrived, that of now stays.
  const then = ahead === undefined || forecast.isPlaceholderData ? undefined : forecast.data;
  const { facts, histogram } = then ?? stats;
  const when = ahead === undefined || then === undefined ? '' : ` ${whenWords[ahead]}, if none is used`;
  const label = `Salience of ${formatAmount(facts, 'fact')}${when}`;
  return (
    <div className={styles.figure} aria-busy={ahead !== undefined && then === undefined}>
      <div className={`flex-row gap-8 flex-wrap ${styles.figureHead}`}>
        <h2 className="pane-title">{label}</h2>
        <span className="flex-row gap-8">
          <SegmentedControl
            aria-label="When"
            value={ahead ?? 'now'}
            onChange={(value) => onSearch({ ahead: forecasts.find((days) => days === value) })}
            data={[
              { value: 'now', label: 'Now' },
              ...forecasts.map((days) => ({ value: days, label: days === '1' ? '1 day' : `${days} days` })),
            ]}
          />
          <SegmentedControl
            aria-label="How the histogram is shown"
            value={look}
            onChange={setLook}
            data={[
              { value: 'bars', label: 'Bars' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </span>
      </div>
      {forecast.error !== null && ahead !== undefined ? (
        <ProblemNotice failure={apiFailureOf(forecast.error)} onRetry={() => void forecast.refetch()} />
      ) : look === 'bars' ? (
        <>
          <Histogram
            histogram={histogram}
            now={then === undefined ? undefined : stats.histogram}
            threshold={threshold}
            label={label}
          />
          <ThresholdSlider threshold={threshold} onThreshold={onThreshold} />
          <SalienceAxis />
        </>
      ) : (
        <HistogramTable histogram={histogram} label={label} />
      )}
    </div>
  );
}

/** Shows the histogram with its threshold, the facts it would evict, and those that expire soon. */
export function Overview({ stats, evictable, search, onSearch }: OverviewProps) {
  const { moved, move, isSettled } = useThreshold(search, onSearch);
  return (
    <section className={`flex fixed-size padded-8 line-below ${styles.overview}`} aria-label="Overview">
      <Figure stats={stats} search={search} onSearch={onSearch} threshold={moved} onThreshold={move} />
      <div className={`flex-column gap-12 ${styles.side}`}>
        <ThresholdField threshold={moved} onThreshold={move} />
        <Evictable
          evictable={evictable}
          isSettled={isSettled}
          isListed={search.part === 'evict'}
          onList={() => onSearch({ part: 'evict' })}
        />
        <Expiring expiring={stats.expiring} search={search} onSearch={onSearch} />
      </div>
    </section>
  );
}
