import { describe, expect, test } from 'vitest';
import {
  formatUptime,
  logReadingsOf,
  quantileOf,
  readingsOf,
  readMetrics,
  storageTakesWrites,
  sumOf,
} from './prometheus.ts';

describe('samples', () => {
  test('have a name, labels and a number; comments and empty lines are skipped', () => {
    expect(
      readMetrics('# HELP a What it is\n# TYPE a counter\na 3\n\nb{x="1",y="two"} -1.5e3 1700000000\n'),
    ).toEqual([
      { name: 'a', labels: {}, value: 3 },
      { name: 'b', labels: { x: '1', y: 'two' }, value: -1500, at: 1700000000 },
    ]);
  });

  test('keep quotes, braces, commas and line breaks in labels', () => {
    expect(readMetrics('a{x="a \\"b\\", {c}\\\\\\n=",} 1')).toEqual([
      { name: 'a', labels: { x: 'a "b", {c}\\\n=' }, value: 1 },
    ]);
  });

  test('may be NaN or infinite', () => {
    expect(readMetrics('a NaN\na +Inf\na -Inf\r\na .5').map(({ value }) => value)).toEqual([
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      0.5,
    ]);
  });

  for (const line of ['a', 'a one', 'a{x=1} 1', 'a{x="1" 1', '3a 1', 'a{x="1"y="2"} 1', 'a 0x10', '<html>'])
    test(`are rejected with the line number: ${line}`, () => {
      expect(() => readMetrics(`ok 1\n${line}\n`)).toThrow('line 2 of the metrics');
    });

  test('are summed over the matching series', () => {
    const samples = readMetrics('a{of="x"} 1\na{of="y"} 2\nb 4');
    expect(sumOf(samples, 'a')).toBe(3);
    expect(sumOf(samples, 'a', { of: 'y' })).toBe(2);
    expect(sumOf(samples, 'a', { of: 'z' })).toBeNull();
    expect(sumOf(samples, 'c')).toBeNull();
  });
});

function histogram(buckets: readonly (readonly [string, number])[]): string {
  return buckets.map(([bound, count]) => `h_bucket{le="${bound}"} ${count}`).join('\n');
}

describe('a quantile', () => {
  test('is linear within its bucket', () => {
    const samples = readMetrics(
      histogram([
        ['1', 10],
        ['2', 30],
        ['+Inf', 30],
      ]),
    );
    expect(quantileOf(samples, 'h', 0.5)).toEqual({ value: 1.25, isAtLeast: false });
    expect(quantileOf(samples, 'h', 1)).toEqual({ value: 2, isAtLeast: false });
    expect(quantileOf(samples, 'h', 0)).toEqual({ value: 0, isAtLeast: false });
  });

  test('beyond the last bound is at least that', () => {
    const samples = readMetrics(
      histogram([
        ['1', 1],
        ['+Inf', 10],
      ]),
    );
    expect(quantileOf(samples, 'h', 0.95)).toEqual({ value: 1, isAtLeast: true });
  });

  test('skips empty buckets', () => {
    const samples = readMetrics(
      histogram([
        ['1', 0],
        ['2', 0],
        ['3', 4],
        ['+Inf', 4],
      ]),
    );
    expect(quantileOf(samples, 'h', 0)).toEqual({ value: 2, isAtLeast: false });
  });

  test('covers all series, in any order of lines', () => {
    const samples = readMetrics(
      'h_bucket{le="+Inf",t="a"} 2\nh_bucket{le="1",t="a"} 2\nh_bucket{le="1",t="b"} 0\nh_bucket{le="+Inf",t="b"} 2',
    );
    expect(quantileOf(samples, 'h', 0.25)).toEqual({ value: 0.5, isAtLeast: false });
    expect(quantileOf(samples, 'h', 0.9)).toEqual({ value: 1, isAtLeast: true });
  });

  test('of no series is null', () => {
    expect(quantileOf(readMetrics(histogram([['+Inf', 0]])), 'h', 0.5)).toBeNull();
    expect(quantileOf([], 'h', 0.5)).toBeNull();
  });
});

const text = `
service_memory_facts_total 12345
service_facts_asserted_total 20000
service_storage_ready 1
service_log_records_total 42
service_inference_duration_seconds_bucket{le="0.001"} 5
service_inference_duration_seconds_bucket{le="0.01"} 10
service_inference_duration_seconds_bucket{le="+Inf"} 11
service_inference_duration_seconds_count 11
service_mcp_tool_call_duration_seconds_bucket{le="+Inf",tool="ask",outcome="ok"} 0
service_mcp_tool_call_duration_seconds_count{tool="ask",outcome="ok"} 0
service_mcp_tool_call_duration_seconds_count{tool="ask",outcome="error"} 0
process_resident_memory_bytes 104857600
`;

function shown(metrics: string): Record<string, Record<string, string>> {
  return Object.fromEntries(
    readingsOf(readMetrics(metrics)).map(({ title, readings }) => [
      title,
      Object.fromEntries(readings.map(({ label, value }) => [label, value])),
    ]),
  );
}

describe('the metrics shown', () => {
  test('are what the service measures, in readable units', () => {
    expect(shown(text)).toEqual({
      Knowledge: { 'Stored facts': '12,345', Asserted: '20,000' },
      Inference: { Questions: '11', p50: '1.9 ms', p95: 'over 10 ms' },
      Agents: { 'Tool calls': '0', Failed: '0', p50: 'none yet', p95: 'none yet' },
      Process: { Memory: '100 MiB' },
    });
  });

  test('omit what is not measured, with its title', () => {
    expect(shown('process_resident_memory_bytes 1024')).toEqual({ Process: { Memory: '1.00 KiB' } });
    expect(shown('')).toEqual({});
  });

  test('show the log separately', () => {
    expect(logReadingsOf(readMetrics(text)).map(({ label, value }) => `${label} ${value}`)).toEqual([
      'Records written 42',
    ]);
  });

  test('say whether the log accepts writes, if the service reports it', () => {
    expect(storageTakesWrites(readMetrics(text))).toBe(true);
    expect(storageTakesWrites(readMetrics('service_storage_ready 0'))).toBe(false);
    expect(storageTakesWrites([])).toBeNull();
  });
});

test('the uptime is written in its two largest units', () => {
  expect([3.7, 60, 3_599, 3_600, 90_061].map(formatUptime)).toEqual([
    '3 s',
    '1 min',
    '59 min',
    '1 h 0 min',
    '1 d 1 h',
  ]);
});
