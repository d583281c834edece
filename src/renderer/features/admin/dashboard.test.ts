import { describe, expect, test } from 'vitest';
import { attentionOf, describeTile, seriesSummaryOf, tilesOf } from './tiles.ts';
import {
  growthOf,
  isRestart,
  retentionMs,
  lastRestart,
  levelsOf,
  type MetricsReading,
  quantileOver,
  quantilesOf,
  ratesOf,
  readingOfMetrics,
  readingsOfDay,
  withGaps,
  withReading,
} from './history.ts';
import { readMetrics } from './prometheus.ts';

function reading(at: number, text: string): MetricsReading {
  return readingOfMetrics(readMetrics(text), at);
}

function histogram(name: string, counts: Readonly<Record<string, number>>, labels = ''): string {
  return Object.entries(counts)
    .map(([bound, count]) => `${name}_bucket{le="${bound}"${labels}} ${count}`)
    .concat(`${name}_count{${labels.slice(1)}} ${counts['+Inf'] ?? 0}`)
    .join('\n');
}

const inference = 'service_inference_duration_seconds';
const requests = 'service_http_request_duration_seconds';

describe('a reading', () => {
  test('has what the service measures, and omits what it does not', () => {
    const { counts, levels } = reading(5, 'service_memory_facts_total 3\nservice_facts_asserted_total 7');
    expect(counts).toEqual({ asserted: 7 });
    expect(levels).toEqual({ facts: 3 });
  });

  test('excludes metrics requests and open streams, and counts failures', () => {
    const text = [
      histogram(requests, { '1': 5, '+Inf': 5 }, ',method="POST",route="/ask",status="200"'),
      histogram(requests, { '1': 2, '+Inf': 2 }, ',method="POST",route="/tell",status="507"'),
      histogram(requests, { '1': 900, '+Inf': 900 }, ',method="GET",route="/metrics",status="200"'),
      histogram(requests, { '1': 0, '+Inf': 9 }, ',method="GET",route="/events",status="200"'),
    ].join('\n');
    const { counts, durations } = reading(5, text);
    expect(counts).toEqual({ requests: 7, failedRequests: 2 });
    expect(durations.requests.get(1)).toBe(7);
  });

  test('that is not a number is absent', () => {
    expect(reading(5, 'nodejs_eventloop_lag_p99_seconds NaN').levels).toEqual({});
  });

  test('is kept for a quarter of an hour, without duplicates', () => {
    const [old, next] = [reading(0, ''), reading(retentionMs, '')];
    expect(withReading([old], next)).toEqual([old, next]);
    expect(withReading([old, next], reading(retentionMs + 1, ''))).toHaveLength(2);
    expect(withReading([old, next], next)).toEqual([old, next]);
  });
});

describe('between readings', () => {
  const asserted = (at: number, total: number, uptime: number) =>
    reading(at, `service_facts_asserted_total ${total}\nservice_uptime_seconds ${uptime}`);
  const readings = [asserted(0, 10, 5), asserted(2_000, 16, 7), asserted(4_000, 4, 1), asserted(6_000, 4, 3)];

  test('a counter has a rate, which is unknown across a restart', () => {
    expect(ratesOf(readings, 'asserted')).toEqual([null, 3, null, 0]);
    expect(ratesOf(readings, 'fired')).toEqual([null, null, null, null]);
  });

  test('a counter grows from 0 after a restart', () => {
    expect(growthOf(readings, 'asserted')).toBe(10);
    expect(growthOf(readings, 'fired')).toBeNull();
    expect(growthOf(readings.slice(0, 1), 'asserted')).toBe(0);
  });

  test('a restart shows in the uptime, or in a counter that fell', () => {
    expect(lastRestart(readings)).toBe(4_000);
    expect(lastRestart(readings.slice(0, 2))).toBeNull();
    const without = (total: number) => reading(0, `service_facts_asserted_total ${total}`);
    expect(isRestart(without(5), without(4))).toBe(true);
    expect(isRestart(without(5), without(5))).toBe(false);
    // Higher counts within a shorter uptime.
    expect(isRestart(asserted(0, 1, 100), asserted(60_000, 50, 2))).toBe(true);
  });

  test('that are far apart the rate is unknown, and lines have a gap', () => {
    const apart = [asserted(0, 0, 1), asserted(60_000, 60, 61)];
    expect(ratesOf(apart, 'asserted')).toEqual([null, null]);
    expect(withGaps(apart, [levelsOf(apart, 'uptime')])).toEqual({
      times: [0, 1, 60_000],
      series: [[1, null, 61]],
    });
    const near = readings.slice(0, 2);
    expect(withGaps(near, [levelsOf(near, 'uptime')])).toEqual({ times: [0, 2_000], series: [[5, 7]] });
  });

  test('of the last day are joined as long as the service was running', () => {
    const minute = 60_000;
    const told = (at: number, total: number, uptime: number) =>
      `service_facts_asserted_total ${total} ${at}\nservice_uptime_seconds ${uptime} ${at}\n`;
    const day = readingsOfDay(
      readMetrics(
        told(0, 0, 300) + told(5 * minute, 300, 600) + told(10 * minute, 600, 900) + told(60 * minute, 5, 10),
      ),
    );
    expect(day.map(({ at }) => at / minute)).toEqual([0, 5, 10, 60]);
    expect(ratesOf(day, 'asserted')).toEqual([null, 1, 1, null]);
    expect(growthOf(day, 'asserted')).toBe(605);
    expect(withGaps(day, [levelsOf(day, 'uptime')]).series).toEqual([[300, 600, 900, null, 10]]);
  });

  test('a quantile covers all durations since the first reading, across restarts', () => {
    const at = (time: number, fast: number, all: number, uptime: number) =>
      reading(
        time,
        `${histogram(inference, { '1': fast, '2': all, '+Inf': all })}\nservice_uptime_seconds ${uptime}`,
      );
    const told = [at(0, 100, 100, 50), at(3_000, 100, 104, 53), at(6_000, 0, 4, 2)];
    // Everything before the first reading was fast, and does not count.
    expect(quantileOver(told.slice(0, 2), 'inference', 0.5)).toEqual({ value: 1.5, isAtLeast: false });
    expect(quantileOver(told, 'inference', 0.5)).toEqual({ value: 1.5, isAtLeast: false });
    expect(quantileOver(told.slice(0, 1), 'inference', 0.5)).toBeNull();
    expect(quantilesOf(told, 'inference', 1)).toEqual([null, 2, 2]);
  });
});

describe('what needs attention', () => {
  const titles = (...texts: string[]) =>
    attentionOf(texts.map((text, index) => reading(index * 3_000, text))).map(({ title }) => title);

  test('is nothing if all is well, or nothing is known', () => {
    expect(titles()).toEqual([]);
    expect(titles('service_storage_ready 1\nnodejs_eventloop_lag_p99_seconds 0.01')).toEqual([]);
  });

  test('lists storage first, then failed calls, memory, lag and agents', () => {
    const failed = (count: number) =>
      `${histogram(requests, { '+Inf': count }, ',route="/tell",status="500"')}\nservice_mcp_tool_call_duration_seconds_count{outcome="error"} ${count}`;
    const now = [
      'service_storage_ready 0',
      'service_derived_bytes 95',
      'service_derived_budget_bytes 100',
      'nodejs_eventloop_lag_p99_seconds 2',
      'service_replication_lag_records 3',
    ].join('\n');
    expect(titles(failed(0), `${failed(1)}\n${now}`)).toEqual([
      'Storage takes no writes',
      '1 request failed inside the service',
      'The memory for conclusions is nearly full',
      'The service responds slowly',
      'This follower is 3 records behind',
      '1 tool call of agents failed',
    ]);
  });

  test('includes a restart', () => {
    expect(titles('service_uptime_seconds 100', 'service_uptime_seconds 1')).toEqual([
      'The service was restarted',
    ]);
  });
});

describe('tiles', () => {
  test('exist only for what is measured', () => {
    expect(tilesOf([])).toEqual([]);
    expect(tilesOf([reading(0, 'service_memory_facts_total 1')]).map(({ title }) => title)).toEqual([
      'Stored facts',
    ]);
  });

  test('show a current number, and describe the chart in words', () => {
    const [tile] = tilesOf([
      reading(0, 'service_rules_fired_total 0'),
      reading(2_000, 'service_rules_fired_total 1'),
      reading(4_000, 'service_rules_fired_total 601'),
    ]);
    expect(tile?.value).toBe('300/s');
    expect(tile?.detail).toBe('601 conclusions');
    expect(tile === undefined ? '' : describeTile(tile)).toBe(
      'Rules fired: 300/s, 601 conclusions. Over the time shown: conclusions a second between 0.5/s and 300/s.',
    );
  });

  test('have a summary that skips unknown values', () => {
    expect(seriesSummaryOf([null, 2, 4, null], String)).toEqual({
      now: '4',
      min: '2',
      mean: '3',
      max: '4',
    });
    expect(seriesSummaryOf([null], String)).toEqual({ now: '–', min: '–', mean: '–', max: '–' });
  });
});
