import { describe, expect, test } from 'vitest';
import { formatUptime, logReadingsOf, readingsOf, readMetrics, storageTakesWrites } from './prometheus.ts';

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
