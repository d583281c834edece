import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ImportDone } from '../../engine/contract/transfer.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;
let folder: string;
let keys = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corollary-upload-'));
  service = await startServiceUnderTest({ STORAGE_DIR: folder });
});

afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A process that knows only what the log says. */
async function restart(): Promise<void> {
  await service.close();
  service = await startServiceUnderTest({ STORAGE_DIR: folder });
}

interface Sent {
  readonly status: number;
  readonly type: string | undefined;
  readonly replayed: string | undefined;
  readonly lines: string[];
}

interface Sending {
  write(part: string): void;
  end(): void;
  /** Breaks off. */
  leave(): void;
  readonly answer: Promise<Sent>;
}

/** An import whose body the test sends itself. */
function sending(key: string, { type = 'text/csv', query = '', tenant = 'default' } = {}): Sending {
  const headers = { 'x-tenant-id': tenant, 'content-type': type, 'idempotency-key': key };
  const sent = request(`${service.address}/import${query}`, { method: 'POST', headers, agent: false });
  const answer = new Promise<Sent>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      text(response).then((body) => {
        const { 'content-type': given, 'idempotent-replayed': replayed } = response.headers;
        const status = response.statusCode ?? 0;
        resolve({ status, type: given, replayed: replayed?.toString(), lines: body.trim().split('\n') });
      }, reject);
    });
  });
  return {
    write: (part) => void sent.write(part),
    end: () => void sent.end(),
    leave: () => void sent.destroy(),
    answer,
  };
}

function send(key: string, body: string, options: Parameters<typeof sending>[1] = {}): Promise<Sent> {
  const one = sending(key, options);
  one.write(body);
  one.end();
  return one.answer;
}

const newKey = (): string => `key-${++keys}`;
const lastOf = ({ lines }: Sent): string => lines.at(-1) ?? '';
const doneOf = (sent: Sent): ImportDone => JSON.parse(lastOf(sent)) as ImportDone;

async function total(predicate: string): Promise<number> {
  const { body } = await service.call<{ total: number }>('GET', `/facts?predicate=${predicate}`);
  return body.total;
}

it('repeats the first answer of an import with an Idempotency-Key and applies it once', async () => {
  const key = newKey();
  const csv = 'a,1\na,2\na,?x\n';
  const first = await send(key, csv);
  expect(first).toMatchObject({ status: 200, replayed: undefined });
  expect(doneOf(first)).toMatchObject({ asserted: 2, failed: 1 });
  await service.call('POST', '/retract/pattern', { predicate: 'a', args: ['?x'] });
  const again = await send(key, csv);
  expect(again).toEqual({ ...first, replayed: 'true', lines: [lastOf(first)] });
  expect(await total('a')).toBe(0);
  await restart();
  const records = service.engine.counters().records;
  expect(await send(key, csv)).toEqual(again);
  expect(service.engine.counters().records).toBe(records);
  const undone = await service.call('POST', `/import/${doneOf(again).id}/undo`);
  expect(undone).toMatchObject({ status: 200, body: { retracted: 0, kept: [] } });
});

it('returns 422 for an import with the Idempotency-Key of another one, even after a restart', async () => {
  const key = newKey();
  await send(key, 'b,1\n');
  for (let round = 0; round < 2; round++) {
    const others = [
      await send(key, 'b,2\n'),
      await send(key, 'b,1'),
      await send(key, 'b,1\n', { query: '?scope=s' }),
      await send(key, 'b,1\n', { type: 'text/tab-separated-values' }),
    ];
    for (const { status, lines } of others) {
      expect(status).toBe(422);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ code: 'IdempotencyMismatch' });
    }
    expect(await send(key, 'b,1\n')).toMatchObject({ status: 200, replayed: 'true' });
    await restart();
  }
  expect(await total('b')).toBe(1);
});

it('shares Idempotency-Keys between imports and other writes', async () => {
  const tell = { predicate: 'c', args: ['told'] };
  const [told, imported] = [newKey(), newKey()];
  await service.call('POST', '/tell', tell, { headers: { 'idempotency-key': told } });
  await send(imported, 'c,1\n');
  for (let round = 0; round < 2; round++) {
    expect(await send(told, 'c,2\n')).toMatchObject({ status: 422 });
    expect(
      await service.call('POST', '/tell', tell, { headers: { 'idempotency-key': imported } }),
    ).toMatchObject({ status: 422, body: { code: 'IdempotencyMismatch' } });
    await restart();
  }
  expect(await total('c')).toBe(2);
});

it('returns 409 while the first import with its Idempotency-Key still runs', async () => {
  const key = newKey();
  const first = sending(key);
  const lines = Array.from({ length: 5001 }, (_, at) => `d,${at}\n`).join('');
  first.write(lines);
  await expect.poll(() => total('d')).toBe(5000);
  expect((await send(key, 'd,1\n')).status).toBe(409);
  const body = { predicate: 'd', args: ['told'] };
  const told = await service.call('POST', '/tell', body, { headers: { 'idempotency-key': key } });
  expect(told).toMatchObject({ status: 409, body: { code: 'Conflict' } });
  first.end();
  expect(doneOf(await first.answer)).toMatchObject({ asserted: 5001 });
  expect(await send(key, lines)).toMatchObject({ status: 200, replayed: 'true' });
});

it('frees the Idempotency-Key of an import that broke off, which then runs again', async () => {
  const key = newKey();
  const first = sending(key);
  const lines = Array.from({ length: 6000 }, (_, at) => `e,${at}\n`).join('');
  first.write(lines);
  await expect.poll(() => total('e')).toBe(5000);
  first.leave();
  await expect(first.answer).rejects.toThrow(/hang up|ECONNRESET/);
  await expect.poll(async () => (await send(key, lines)).status).toBe(200);
  expect(doneOf(await send(key, lines))).toMatchObject({ asserted: 1000, unchanged: 5000 });
  expect(await total('e')).toBe(6000);
});

it('frees the Idempotency-Key of a refused import', async () => {
  const key = newKey();
  expect(await send(key, 'f.', { type: 'text/x-datalog', query: '?predicate=f' })).toMatchObject({
    status: 400,
  });
  expect(await send(key, 'f(1).', { type: 'text/x-datalog' })).toMatchObject({
    status: 200,
    replayed: undefined,
  });
});

it('repeats the answer of an import in a dry run and still changes nothing', async () => {
  const key = newKey();
  const first = await send(key, 'g,1\n', { query: '?dryRun=true' });
  expect(doneOf(first)).toMatchObject({ dryRun: true, asserted: 1 });
  await send(newKey(), 'g,1\n');
  const again = await send(key, 'g,1\n', { query: '?dryRun=true' });
  expect([again.replayed, lastOf(again)]).toEqual(['true', lastOf(first)]);
});

it('keeps the Idempotency-Key of an import separate for each tenant', async () => {
  const key = newKey();
  await send(key, 'h,1\n');
  expect(doneOf(await send(key, 'h,2\n', { tenant: 'other' }))).toMatchObject({ asserted: 1 });
});

it('returns 400 for an import with an invalid Idempotency-Key', async () => {
  const { status, lines } = await send('a b', 'i,1\n');
  expect(status).toBe(400);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ errors: [{ path: 'Idempotency-Key' }] });
  expect(await total('i')).toBe(0);
});

it('repeats the answer of an import that a quota has stopped, whatever the client sent after it', async () => {
  const quota = '/admin/databases/default/tenants/stopped/quota';
  expect((await service.call('PUT', quota, { facts: 3 })).status).toBe(200);
  const csv = Array.from({ length: 60_000 }, (_, at) => `s,${at}\n`).join('');
  const key = newKey();
  const first = await send(key, csv, { tenant: 'stopped' });
  expect(doneOf(first)).toMatchObject({ stopped: 'QuotaExceeded', asserted: 3, failed: 1 });
  for (let round = 0; round < 2; round++) {
    const again = await send(key, csv, { tenant: 'stopped' });
    expect(again).toEqual({ ...first, replayed: 'true', lines: [lastOf(first)] });
    await restart();
  }
});
