import { describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MetricsHistory, summed } from './metrics-history.ts';

const hourMs = 3_600_000;

describe('the metrics of the last day', () => {
  it('are few series, summed over routes, tools and reasons', () => {
    const text = [
      '# HELP service_facts_asserted_total Facts',
      'service_facts_asserted_total 2',
      'service_unknown_total 3',
      'service_mcp_tool_call_duration_seconds_count{tool="ask",outcome="ok"} 2',
      'service_mcp_tool_call_duration_seconds_count{tool="tell",outcome="ok"} 3',
      'service_mcp_tool_call_duration_seconds_count{tool="tell",outcome="error"} 1',
      'service_http_request_duration_seconds_bucket{le="0.5",method="POST",route="/ask",status="200"} 4',
      'service_http_request_duration_seconds_bucket{le="0.5",method="POST",route="/tell",status="200"} 5',
      'service_http_request_duration_seconds_bucket{le="0.5",method="GET",route="/metrics",status="200"} 99',
      'service_http_request_duration_seconds_count{method="POST",route="/ask",status="503"} 1',
      'service_http_request_duration_seconds_count{method="POST",route="/ask",status="500"} 1',
    ].join('\n');
    expect(summed(text)).toEqual([
      'service_facts_asserted_total 2',
      'service_mcp_tool_call_duration_seconds_count{outcome="ok"} 5',
      'service_mcp_tool_call_duration_seconds_count{outcome="error"} 1',
      'service_http_request_duration_seconds_bucket{le="0.5"} 9',
      'service_http_request_duration_seconds_count{status="500"} 2',
    ]);
  });

  it('cover 24 hours, with a bounded number of readings', async () => {
    let now = 0;
    const history = new MetricsHistory(
      async () => `service_uptime_seconds ${now / 1000}`,
      () => now,
    );
    for (; now <= 30 * hourMs; now += hourMs) await history.take();
    now -= hourMs;
    const times = history
      .text()
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ').at(-1)) / hourMs);
    expect(times).toEqual(Array.from({ length: 25 }, (_, index) => 6 + index));
    for (let count = 0; count < 2000; count++) await history.take();
    expect(history.text().trim().split('\n')).toHaveLength(600);
  });

  it('survive a restart, for callers that may read the metrics', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'corollary-history-'));
    const headers = { 'x-api-key': 'a-key-of-some-length' };
    const start = () => startServiceUnderTest({ STORAGE_DIR: folder, API_KEY: 'a-key-of-some-length' });
    const read = async (service: ServiceUnderTest) =>
      (await service.call<string>('GET', '/metrics/history', undefined, { headers })).body;
    const first = await start();
    expect((await first.call('GET', '/metrics/history')).status).toBe(401);
    expect((await first.call('GET', '/metrics/history?x=1', undefined, { headers })).status).toBe(400);
    await first.call('POST', '/tell', { predicate: 'p', args: ['a'] }, { headers });
    await first.close();
    const second = await start();
    try {
      const told = (await read(second))
        .split('\n')
        .filter((line) => line.startsWith('service_facts_asserted_total '));
      // At the first start, at its end, at the second start.
      expect(told.map((line) => line.split(' ')[1])).toEqual(['0', '1', '0']);
    } finally {
      await second.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
