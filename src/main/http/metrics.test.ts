import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** `GET /metrics`: contract section 9. secrecy.test.ts checks what no label may contain. */
let service: ServiceUnderTest;
let folder: string;
let atStart: Map<string, Family>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-metrics-'));
  service = await startServiceUnderTest({ STORAGE_DIR: folder });
  atStart = await scrape();
});

afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

interface Family {
  readonly type: string;
  /** Values by name and labels as they are written. */
  readonly samples: Map<string, number>;
}

const helpLine = /^# HELP ([a-z][a-z0-9_]*) \S.*$/;
const typeLine = /^# TYPE ([a-z][a-z0-9_]*) (counter|gauge|histogram)$/;
const sampleLine =
  /^([a-z][a-z0-9_]*)(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? (-?[\d.]+(?:e[+-]\d+)?|NaN|\+Inf)$/;

/** Parses the text format strictly: whole families, with HELP and TYPE, once each. */
function readStrictly(text: string): Map<string, Family> {
  expect(text.endsWith('\n')).toBe(true);
  const families = new Map<string, Family>();
  let [name, family]: [string, Family | null] = ['', null];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const helped = helpLine.exec(line)?.[1];
    if (helped !== undefined) {
      expect(families.has(helped), line).toBe(false);
      [name, family] = [helped, null];
      continue;
    }
    const [, typed, type = ''] = typeLine.exec(line) ?? [];
    if (typed !== undefined) {
      expect(typed).toBe(name);
      family = { type, samples: new Map() };
      families.set(name, family);
      continue;
    }
    const [, sample = '', labels = '', value = ''] = sampleLine.exec(line) ?? [];
    expect(sample, line).not.toBe('');
    const suffix = family?.type === 'histogram' ? '(?:_bucket|_sum|_count)' : '';
    expect(sample, line).toMatch(new RegExp(`^${name}${suffix}$`));
    expect(family?.samples.has(sample + labels), line).toBe(false);
    family?.samples.set(sample + labels, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value));
  }
  return families;
}

async function scrape(): Promise<Map<string, Family>> {
  const { status, headers, body } = await service.call<string>('GET', '/metrics');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return readStrictly(body);
}

/** The value of a series, or the count of a histogram: the sum over all labels if none are given. */
function valueIn(families: Map<string, Family>, name: string, labels = ''): number {
  const family = families.get(name);
  const wanted = family?.type === 'histogram' ? `${name}_count` : name;
  let sum = 0;
  for (const [sample, value] of family?.samples ?? [])
    if (sample === wanted + labels || (labels === '' && sample.startsWith(`${wanted}{`))) sum += value;
  return sum;
}

const ofContract: readonly (readonly [name: string, type: string])[] = [
  ['service_facts_asserted_total', 'counter'],
  ['service_facts_retracted_total', 'counter'],
  ['service_inference_duration_seconds', 'histogram'],
  ['service_rules_fired_total', 'counter'],
  ['service_mcp_tool_call_duration_seconds', 'histogram'],
  ['service_mcp_sse_subscribers', 'gauge'],
  ['service_llm_call_duration_seconds', 'histogram'],
  ['service_llm_tokens_used', 'counter'],
  ['service_memory_facts_total', 'gauge'],
  ['service_memory_decay_evicted', 'counter'],
];

const beside: readonly (readonly [name: string, type: string])[] = [
  ['service_http_request_duration_seconds', 'histogram'],
  ['service_http_requests_in_flight', 'gauge'],
  ['service_http_connections', 'gauge'],
  ['service_http_connections_refused_total', 'counter'],
  ['service_http_malformed_total', 'counter'],
  ['service_http_received_bytes_total', 'counter'],
  ['service_http_sent_bytes_total', 'counter'],
  ['service_log_records_total', 'counter'],
  ['service_log_sync_duration_seconds', 'histogram'],
  ['service_log_bytes', 'gauge'],
  ['service_snapshot_timestamp_seconds', 'gauge'],
  ['service_derived_bytes', 'gauge'],
  ['service_derived_budget_bytes', 'gauge'],
  ['service_transactions_open', 'gauge'],
  ['service_transactions_oldest_seconds', 'gauge'],
  ['service_memory_dead_rows', 'gauge'],
  ['service_clock_offset_seconds', 'gauge'],
  ['service_clock_steps_total', 'counter'],
  ['service_events_subscribers', 'gauge'],
  ['service_event_loop_lag_seconds', 'histogram'],
  ['service_replication_lag_records', 'gauge'],
  ['service_replication_lag_seconds', 'gauge'],
  ['process_resident_memory_bytes', 'gauge'],
  ['process_cpu_seconds_total', 'counter'],
  ['nodejs_eventloop_lag_p99_seconds', 'gauge'],
];

it.each([...ofContract, ...beside])('exports %s from the start as a %s', (name, type) => {
  expect(atStart.get(name)?.type).toBe(type);
  expect(atStart.get(name)?.samples.size).toBeGreaterThan(0);
});

it('is valid Prometheus text: counters end in _total except those that the contract names otherwise', async () => {
  const otherwise = new Set(ofContract.map(([name]) => name));
  for (const [name, { type, samples }] of await scrape()) {
    if (!name.startsWith('service_') || otherwise.has(name)) continue;
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    for (const value of samples.values()) expect(value, name).toBeGreaterThanOrEqual(0);
  }
});

it('has histograms with cumulative buckets up to their count', async () => {
  let histograms = 0;
  for (const [name, { type, samples }] of await scrape()) {
    if (type !== 'histogram') continue;
    histograms++;
    let before = 0;
    for (const [sample, value] of samples) {
      if (sample.startsWith(`${name}_bucket`)) expect(value, sample).toBeGreaterThanOrEqual(before);
      if (sample.startsWith(`${name}_count`)) expect(value, sample).toBe(before);
      before = sample.startsWith(`${name}_bucket`) ? value : sample.startsWith(`${name}_sum`) ? before : 0;
    }
  }
  expect(histograms).toBeGreaterThan(5);
});

/** What the work between two scrapes has added to a series. */
async function added(work: () => Promise<unknown>): Promise<(name: string, labels?: string) => number> {
  const before = await scrape();
  await work();
  const after = await scrape();
  return (name, labels) => valueIn(after, name, labels) - valueIn(before, name, labels);
}

const post = (path: string, body?: unknown) => service.call<Record<string, unknown>>('POST', path, body);

it('counts added, removed and present facts, fired rules and log bytes', async () => {
  const change = await added(async () => {
    await post(
      '/assert/facts',
      [1, 2, 3].map((n) => ({ predicate: 'p', args: [n] })),
    );
    await post('/retract', { predicate: 'p', args: ['1'] });
    await post('/teach', { text: 'q(?x) :- p(?x)' });
    await post('/ask', { predicate: 'q', args: ['?x'] });
  });
  expect(change('service_facts_asserted_total')).toBe(3);
  expect(change('service_facts_retracted_total')).toBe(1);
  expect(change('service_memory_facts_total')).toBe(2);
  expect(change('service_rules')).toBe(1);
  expect(change('service_rules_fired_total')).toBe(2);
  expect(change('service_derived_conclusions')).toBe(2);
  expect(change('service_derived_bytes')).toBeGreaterThan(0);
  expect(change('service_log_records_total')).toBe(3);
  expect(change('service_log_commits_total')).toBe(3);
  expect(change('service_log_sync_duration_seconds')).toBeGreaterThanOrEqual(3);
  expect(change('service_log_bytes')).toBeGreaterThan(0);
  expect(change('service_log_written_bytes_total')).toBe(change('service_log_bytes'));
});

it.each<[string, unknown, number]>([
  ['/ask', { predicate: 'q', args: ['?x'] }, 1],
  ['/infer', { predicate: 'q', args: ['?x'] }, 1],
  ['/explain', { predicate: 'q', args: ['2'], mode: 'why' }, 1],
  ['/whatIf', { goals: [{ predicate: 'q', args: ['?x'] }] }, 1],
  ['/trace', { predicate: 'q', args: ['?x'] }, 1],
  ['/aggregate', { operation: 'COUNT', predicate: 'q', args: ['?x'], infer: true }, 1],
  ['/aggregate', { operation: 'COUNT', predicate: 'p', args: ['?x'] }, 0],
  ['/query', { predicate: 'p', args: ['?x'] }, 0],
  ['/ask', { predicat: 'q' }, 0],
])(
  'service_inference_duration_seconds counts every question, whatever its endpoint: %s %j: %i',
  async (path, body, times) => {
    const change = await added(() => post(path, body));
    expect(change('service_inference_duration_seconds')).toBe(times);
  },
);

it('counts a question that hits its limit', async () => {
  await post('/teach', { text: 'n(?y) :- n(?x), ?y = ?x + 1' });
  await post('/tell', { predicate: 'n', args: [0] });
  const change = await added(async () => {
    expect((await post('/ask', { predicate: 'n', args: ['?x'], maxDerivations: 100 })).status).toBe(422);
  });
  expect(change('service_inference_duration_seconds')).toBe(1);
});

it('counts requests by method, route and status, with one series for unknown methods and addresses', async () => {
  const change = await added(async () => {
    await service.call('GET', '/facts/some-id');
    for (const path of ['/nowhere', '/nowhere/else', '/facts/%ff']) await service.call('GET', path);
    for (const method of ['PURGE', 'MKCOL', 'PROPFIND']) await service.call(method, '/ask');
  });
  const name = 'service_http_request_duration_seconds';
  expect(change(name, '{method="GET",route="/facts/:id",status="404"}')).toBe(1);
  expect(change(name, '{method="GET",route="none",status="404"}')).toBe(2);
  expect(change(name, '{method="GET",route="none",status="400"}')).toBe(1);
  expect(change(name, '{method="other",route="none",status="405"}')).toBe(3);
});

it('counts the current request as in flight, and connections and their bytes', async () => {
  expect(valueIn(await scrape(), 'service_http_requests_in_flight')).toBe(1);
  const change = await added(async () => {
    await service.raw('no http at all\r\n\r\n');
    await post('/tell', { predicate: 'large', args: ['x'.repeat(10_000)] });
  });
  expect(change('service_http_malformed_total')).toBe(1);
  expect(change('service_http_connections_total')).toBeGreaterThanOrEqual(1);
  expect(change('service_http_received_bytes_total')).toBeGreaterThan(10_000);
  // Its answer arrives after it has counted.
  expect(change('service_http_sent_bytes_total')).toBeGreaterThan(10_000);
});

it('reports open transactions, sessions and the last snapshot', async () => {
  let id: unknown;
  const change = await added(async () => {
    id = (await post('/tx/begin')).body['id'];
    await post('/context/optimize', { sessionId: 'metrics' });
    await post('/admin/snapshot');
  });
  expect(change('service_transactions_open')).toBe(1);
  expect(change('service_context_sessions')).toBe(1);
  expect(change('service_snapshots_total')).toBe(1);
  const now = await scrape();
  expect(valueIn(now, 'service_snapshot_bytes')).toBeGreaterThan(0);
  expect(Math.abs(valueIn(now, 'service_snapshot_timestamp_seconds') - Date.now() / 1000)).toBeLessThan(600);
  await post(`/tx/rollback/${String(id)}`);
  expect(valueIn(await scrape(), 'service_transactions_open')).toBe(0);
});

it('bounds the number of series, whatever is asked', async () => {
  const count = async () =>
    [...(await scrape())]
      // By kind of resource that the process has open; these vary independently of clients.
      .filter(([name]) => !name.startsWith('nodejs_active_'))
      .reduce((sum, [, { samples }]) => sum + samples.size, 0);
  await service.call('GET', '/first-of-its-kind');
  const before = await count();
  for (let n = 0; n < 20; n++) {
    await service.call('GET', `/address/${n}`);
    await post('/query', { predicate: `p${n}`, args: [n] });
  }
  const kinds = await count();
  for (let n = 20; n < 60; n++) await post('/query', { predicate: `p${n}`, args: [n] });
  expect(await count()).toBe(kinds);
  expect(kinds - before).toBeLessThanOrEqual(2 * 19);
});
