/**
 * The tiles of the dashboard (a current number, its course over the last minutes, and what it means), and
 * what needs attention.
 */
import { formatAmount, formatBytes, formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import {
  type Counter,
  type Durations,
  type Gauge,
  growthOf,
  lastRestart,
  levelsOf,
  type MetricsReading,
  quantileOver,
  quantilesOf,
  ratesOf,
  type Series,
} from './history.ts';
import type { Quantile } from './prometheus.ts';

interface TileSeries {
  readonly name: string;
  readonly values: Series;
}

/** A tile of the dashboard. */
export interface Tile {
  readonly title: string;
  /** The current number, written. */
  readonly value: string;
  /** A second number or a unit. */
  readonly detail: string;
  /** What is measured. */
  readonly hint: string;
  readonly series: readonly TileSeries[];
  readonly write: (value: number) => string;
}

function perSecond(value: number): string {
  if (value >= 100) return `${formatCount(value)}/s`;
  if (value > 0 && value < 0.01) return 'under 0.01/s';
  return `${Number(value.toPrecision(2))}/s`;
}

function seconds(value: number): string {
  return formatDuration(value * 1_000);
}

function share(value: number): string {
  return `${Math.round(value * 100)} %`;
}

function last(values: Series): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

function written(value: number | null, write: (value: number) => string): string {
  return value === null ? '–' : write(value);
}

function quantile(found: Quantile | null): string {
  return found === null ? 'none' : `${found.isAtLeast ? 'over ' : ''}${seconds(found.value)}`;
}

function has(readings: readonly MetricsReading[], counter: Counter): boolean {
  return readings.at(-1)?.counts[counter] !== undefined;
}

interface RateTile {
  readonly title: string;
  readonly counter: Counter;
  readonly name: string;
  readonly detail: (growth: number) => string;
  readonly hint: string;
  readonly write?: (value: number) => string;
}

function rateTile(readings: readonly MetricsReading[], spec: RateTile): Tile[] {
  if (!has(readings, spec.counter)) return [];
  const values = ratesOf(readings, spec.counter);
  const write = spec.write ?? perSecond;
  return [
    {
      title: spec.title,
      value: written(last(values), write),
      detail: spec.detail(growthOf(readings, spec.counter) ?? 0),
      hint: spec.hint,
      series: [{ name: spec.name, values }],
      write,
    },
  ];
}

interface LevelTile {
  readonly title: string;
  readonly gauge: Gauge;
  readonly detail: string;
  readonly hint: string;
  readonly write: (value: number) => string;
}

function levelTile(
  readings: readonly MetricsReading[],
  { title, gauge, detail, hint, write }: LevelTile,
): Tile[] {
  const values = levelsOf(readings, gauge);
  const now = values.at(-1) ?? null;
  return now === null
    ? []
    : [{ title, value: write(now), detail, hint, series: [{ name: title, values }], write }];
}

/** p95 large, p50 beside it, both over all readings; each point of the lines covers half a minute. */
function durationTile(
  readings: readonly MetricsReading[],
  title: string,
  of: Durations,
  hint: string,
): Tile[] {
  if ((readings.at(-1)?.durations[of].size ?? 0) === 0) return [];
  return [
    {
      title,
      value: quantile(quantileOver(readings, of, 0.95)),
      detail: `p95 · p50 ${quantile(quantileOver(readings, of, 0.5))}`,
      hint,
      series: [
        { name: 'p95', values: quantilesOf(readings, of, 0.95) },
        { name: 'p50', values: quantilesOf(readings, of, 0.5) },
      ],
      write: seconds,
    },
  ];
}

function knowledgeTiles(readings: readonly MetricsReading[]): Tile[] {
  const asserted = growthOf(readings, 'asserted') ?? 0;
  const retracted = growthOf(readings, 'retracted') ?? 0;
  const { derivedBytes, derivedBudget } = readings.at(-1)?.levels ?? {};
  const budget =
    derivedBytes === undefined || derivedBudget === undefined
      ? 'cached for the next question'
      : `${formatBytes(derivedBytes)} of ${formatBytes(derivedBudget)}`;
  return [
    ...levelTile(readings, {
      title: 'Stored facts',
      gauge: 'facts',
      detail: `${formatCount(asserted)} asserted, ${formatCount(retracted)} retracted`,
      hint: 'Of all databases and tenants',
      write: formatCount,
    }),
    ...levelTile(readings, {
      title: 'Known conclusions',
      gauge: 'conclusions',
      detail: budget,
      hint: 'Conclusions in the cache, and the memory they take',
      write: formatCount,
    }),
  ];
}

function workTiles(readings: readonly MetricsReading[]): Tile[] {
  return [
    ...rateTile(readings, {
      title: 'Questions',
      counter: 'questions',
      name: 'questions a second',
      detail: (growth) => formatAmount(growth, 'question'),
      hint: 'Questions asked with inference',
    }),
    ...durationTile(
      readings,
      'Inference',
      'inference',
      'How long questions took; an estimate from a histogram',
    ),
    ...rateTile(readings, {
      title: 'Rules fired',
      counter: 'fired',
      name: 'conclusions a second',
      detail: (growth) => formatAmount(growth, 'conclusion'),
      hint: 'Conclusions drawn with a rule',
    }),
    ...rateTile(readings, {
      title: 'Tool calls',
      counter: 'tools',
      name: 'calls a second',
      detail: (growth) => formatAmount(growth, 'call'),
      hint: 'Calls of agents over MCP',
    }),
  ];
}

function trafficTiles(readings: readonly MetricsReading[]): Tile[] {
  return [
    ...rateTile(readings, {
      title: 'HTTP requests',
      counter: 'requests',
      name: 'requests a second',
      detail: (growth) => formatAmount(growth, 'request'),
      hint: 'Without the requests of this dashboard, and without streams',
    }),
    ...durationTile(
      readings,
      'HTTP answers',
      'requests',
      'From the head of a request to the end of its answer; an estimate',
    ),
    ...rateTile(readings, {
      title: 'Log writes',
      counter: 'records',
      name: 'records a second',
      detail: (growth) => formatAmount(growth, 'record'),
      hint: 'Records written to the log',
    }),
    ...durationTile(
      readings,
      'Log syncs',
      'syncs',
      'Time it took to make the log durable; an estimate from a histogram',
    ),
  ];
}

function processTiles(readings: readonly MetricsReading[]): Tile[] {
  const { replicationSeconds } = readings.at(-1)?.levels ?? {};
  return [
    ...levelTile(readings, {
      title: 'Event-loop lag',
      gauge: 'lag',
      detail: '99th percentile',
      hint: 'How long the service was blocked before it could handle a call',
      write: seconds,
    }),
    ...rateTile(readings, {
      title: 'Processor',
      counter: 'processor',
      name: 'share of one core',
      detail: () => 'of one core',
      hint: 'Processor time of the whole process; more than 100 % is more than one core',
      write: share,
    }),
    ...levelTile(readings, {
      title: 'Memory',
      gauge: 'memory',
      detail: 'resident',
      hint: 'Of the whole process',
      write: formatBytes,
    }),
    ...levelTile(readings, {
      title: 'Replication lag',
      gauge: 'replicationRecords',
      detail:
        replicationSeconds === undefined || replicationSeconds === 0
          ? 'nothing to fetch'
          : `${seconds(replicationSeconds)} behind the leader`,
      hint: 'Records that this service has yet to fetch; a leader has none',
      write: (value) => formatAmount(value, 'record'),
    }),
  ];
}

/** All tiles, in order; a metric that the service does not measure has none. */
export function tilesOf(readings: readonly MetricsReading[]): Tile[] {
  return [
    ...knowledgeTiles(readings),
    ...workTiles(readings),
    ...trafficTiles(readings),
    ...processTiles(readings),
  ];
}

/** A series as four written numbers. */
interface SeriesSummary {
  readonly now: string;
  readonly min: string;
  readonly mean: string;
  readonly max: string;
}

/** The last value, minimum, mean and maximum of a series; a dash if nothing is known. */
export function seriesSummaryOf(values: Series, write: (value: number) => string): SeriesSummary {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { now: '–', min: '–', mean: '–', max: '–' };
  const sum = known.reduce((total, value) => total + value, 0);
  return {
    now: written(last(values), write),
    min: write(known.reduce((one, other) => Math.min(one, other))),
    mean: write(sum / known.length),
    max: write(known.reduce((one, other) => Math.max(one, other))),
  };
}

/** A tile in words, for screen readers. */
export function describeTile({ title, value, detail, series, write }: Tile): string {
  const lines = series.map(({ name, values }) => {
    const { min, max } = seriesSummaryOf(values, write);
    return `${name} between ${min} and ${max}`;
  });
  return `${title}: ${value}, ${detail}. Over the time shown: ${lines.join('; ')}.`;
}

/** Something that needs attention. */
export interface Attention {
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  readonly detail: string;
}

/** From this share of its budget on, the cache of derived conclusions is about to evict. */
const nearlyFull = 0.9;
const longLagSeconds = 0.25;

/** What needs attention by the metrics, the worst first; empty if all is well. */
export function attentionOf(readings: readonly MetricsReading[]): Attention[] {
  const now = readings.at(-1);
  if (now === undefined) return [];
  const { storageReady, derivedBytes, derivedBudget, lag, replicationRecords } = now.levels;
  const found: Attention[] = [];
  if (storageReady === 0)
    found.push({
      tone: 'bad',
      title: 'Storage takes no writes',
      detail:
        'The service refuses writes, but still answers reads. Free disk space: writes work again a few seconds later. If the log says that a sync failed, restart the service.',
    });
  const failed = growthOf(readings, 'failedRequests') ?? 0;
  if (failed > 0)
    found.push({
      tone: 'bad',
      title: `${formatAmount(failed, 'request')} failed inside the service`,
      detail: 'In the time shown here. The log has each with its request id.',
    });
  if (
    derivedBytes !== undefined &&
    derivedBudget !== undefined &&
    derivedBudget > 0 &&
    derivedBytes >= nearlyFull * derivedBudget
  )
    found.push({
      tone: 'warn',
      title: 'The memory for conclusions is nearly full',
      detail: `${formatBytes(derivedBytes)} of ${formatBytes(derivedBudget)}. Conclusions that no longer fit are derived again when asked for; MEMORY_BUDGET_BYTES raises the limit.`,
    });
  if (lag !== undefined && lag > longLagSeconds)
    found.push({
      tone: 'warn',
      title: 'The service responds slowly',
      detail: `Its event loop was blocked for ${formatDuration(lag * 1_000)} at the 99th percentile: every call waits that long.`,
    });
  if (replicationRecords !== undefined && replicationRecords > 0)
    found.push({
      tone: 'warn',
      title: `This follower is ${formatAmount(replicationRecords, 'record')} behind`,
      detail: 'Its answers are older than the knowledge of its leader.',
    });
  const failedTools = growthOf(readings, 'failedTools') ?? 0;
  if (failedTools > 0)
    found.push({
      tone: 'warn',
      title: `${formatAmount(failedTools, 'tool call')} of agents failed`,
      detail: 'In the time shown here.',
    });
  const restart = lastRestart(readings);
  if (restart !== null)
    found.push({
      tone: 'warn',
      title: 'The service was restarted',
      detail: `Before ${formatTime(restart)}. Totals count from then.`,
    });
  return found;
}
