import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Declared keys in transactions, under quotas and in merges: contract sections 7 and 14. */

let service: ServiceUnderTest;
let database = '';
let count = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

beforeEach(async () => {
  database = `keyed-${++count}`;
  await service.call('POST', '/databases', { name: database });
});

function call<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return service.call<Body>(method, path, body, { headers: { 'x-database': database, ...headers } });
}

const declare = (onConflict: string, headers = {}) =>
  call(
    'PUT',
    '/predicates/lives_in/2',
    { arguments: [{ name: 'person' }, { name: 'city' }], key: ['person'], onConflict },
    headers,
  );

const tell = (args: string[], fields: object = {}, headers = {}) =>
  call('POST', '/tell', { predicate: 'lives_in', args, ...fields }, headers);

async function lives(scope: object = {}, headers = {}): Promise<string[]> {
  const asked = { predicate: 'lives_in', args: ['?p', '?c'], ...scope };
  return (await call<Answer>('POST', '/ask', asked, headers)).body.results;
}

describe('within a transaction', () => {
  const begin = async () => ({
    'x-transaction-id': (await call<{ id: string }>('POST', '/tx/begin')).body.id,
  });

  it('a question sees what the own writes will supersede', async () => {
    await declare('supersede');
    await tell(['ann', 'rome']);
    const within = await begin();
    expect(await lives({}, within)).toEqual(['lives_in(ann, rome)']);
    await tell(['ann', 'oslo'], {}, within);
    expect(await lives({}, within)).toEqual(['lives_in(ann, oslo)']);
    expect(await lives()).toEqual(['lives_in(ann, rome)']);
    await tell(['ann', 'paris'], {}, within);
    await tell(['bob', 'rome'], {}, within);
    expect(await lives({}, within)).toEqual(['lives_in(ann, paris)', 'lives_in(bob, rome)']);
    await call('POST', `/tx/commit/${within['x-transaction-id']}`);
    expect(await lives()).toEqual(['lives_in(ann, paris)', 'lives_in(bob, rome)']);
  });

  it('what a write no longer supersedes is seen again', async () => {
    await declare('supersede');
    await tell(['ann', 'rome']);
    const within = await begin();
    await tell(['ann', 'oslo'], {}, within);
    expect(await lives({}, within)).toEqual(['lives_in(ann, oslo)']);
    await call('POST', '/retract', { predicate: 'lives_in', args: ['ann', 'oslo'] }, within);
    expect(await lives({}, within)).toEqual(['lives_in(ann, rome)']);
    await call('POST', `/tx/commit/${within['x-transaction-id']}`);
    expect(await lives()).toEqual(['lives_in(ann, rome)']);
  });

  it('a key that the transaction declares counts for all its writes', async () => {
    await tell(['ann', 'rome']);
    const within = await begin();
    await tell(['ann', 'oslo'], {}, within);
    expect(await lives({}, within)).toEqual(['lives_in(ann, oslo)', 'lives_in(ann, rome)']);
    await declare('supersede', within);
    expect(await lives({}, within)).toEqual(['lives_in(ann, oslo)']);
    await call('POST', `/tx/commit/${within['x-transaction-id']}`);
    expect(await lives()).toEqual(['lives_in(ann, oslo)']);
  });
});

describe('under a quota', () => {
  it('a write that supersedes fits where it adds nothing', async () => {
    await declare('supersede');
    await tell(['ann', 'rome']);
    await call('PUT', `/admin/databases/${database}/quota`, { facts: 1 });
    expect((await tell(['ann', 'oslo'])).status).toBe(200);
    expect((await tell(['bob', 'oslo'])).status).toBe(507);
    const facts = ['a', 'b', 'c'].map((city) => ({ predicate: 'lives_in', args: ['ann', city] }));
    expect((await call('POST', '/assert/facts', facts)).status).toBe(200);
    expect(await lives()).toEqual(['lives_in(ann, c)']);
    const lines =
      '{"predicate":"lives_in","args":["ann","x"]}\n{"predicate":"lives_in","args":["bob","x"]}\n';
    const response = await fetch(`${service.address}/import`, {
      method: 'POST',
      headers: {
        'x-tenant-id': 'default',
        'x-database': database,
        'content-type': 'application/x-ndjson',
      },
      body: lines,
    });
    expect(JSON.parse((await response.text()).trim().split('\n').at(-1) ?? '')).toMatchObject({
      asserted: 1,
      stopped: 'QuotaExceeded',
    });
    expect(await lives()).toEqual(['lives_in(ann, x)']);
  });
});

describe('a merge of scopes', () => {
  const merge = (fields: object) =>
    call<{ conflicts: { fields: string[]; source: { args: string[] }; target: { args: string[] } }[] }>(
      'POST',
      '/scope/merge',
      { source: 'draft', target: 'main', base: null, ...fields },
    );

  beforeEach(async () => {
    await declare('reject');
    await tell(['ann', 'rome'], { scope: 'main' });
    await tell(['ann', 'oslo'], { scope: 'draft' });
    await tell(['bob', 'oslo'], { scope: 'draft' });
  });

  it('two facts with one value of a key are a conflict', async () => {
    for (const strategy of ['REJECT', 'KEEP_BOTH']) {
      const refused = await merge({ strategy });
      expect(refused.status).toBe(409);
      expect(refused.body.conflicts).toMatchObject([
        { fields: ['key'], source: { args: ['ann', 'oslo'] }, target: { args: ['ann', 'rome'] } },
      ]);
    }
    expect(await lives({ scope: 'main' })).toEqual(['lives_in(ann, rome)']);
  });

  it('SOURCE_WINS retracts the fact of the target, TARGET_WINS leaves out that of the source', async () => {
    const kept = await merge({ strategy: 'TARGET_WINS', dryRun: true });
    expect(kept.body).toMatchObject({ added: 1, kept: 1, deleted: 0, conflicts: [{ fields: ['key'] }] });
    expect((await merge({ strategy: 'SOURCE_WINS' })).body).toMatchObject({ added: 2, deleted: 1 });
    expect(await lives({ scope: 'main' })).toEqual(['lives_in(ann, oslo)', 'lives_in(bob, oslo)']);
  });

  it('resolutions of either atom settle it', async () => {
    const of = (city: string, take: string) => ({ predicate: 'lives_in', args: ['ann', city], take });
    const contradictory = await merge({
      strategy: 'REJECT',
      resolutions: [of('oslo', 'source'), of('rome', 'target')],
    });
    expect(contradictory.status).toBe(409);
    const named = { predicate: 'lives_in', args: { city: 'rome', person: 'ann' }, take: 'target' };
    expect((await merge({ strategy: 'REJECT', resolutions: [named] })).body).toMatchObject({
      added: 1,
      kept: 1,
      resolved: 1,
    });
    expect((await merge({ strategy: 'REJECT', resolutions: [of('oslo', 'source')] })).body).toMatchObject({
      added: 1,
      deleted: 1,
      resolved: 1,
    });
    expect(await lives({ scope: 'main' })).toEqual(['lives_in(ann, oslo)', 'lives_in(bob, oslo)']);
  });

  it('a fork that moved somebody merges back without a conflict', async () => {
    await call('POST', '/scope/fork', { source: 'main', target: 'branch' });
    await call('POST', '/retract', { predicate: 'lives_in', args: ['ann', 'rome'], scope: 'branch' });
    await tell(['ann', 'paris'], { scope: 'branch' });
    const merged = await call('POST', '/scope/merge', {
      source: 'branch',
      target: 'main',
      strategy: 'REJECT',
    });
    expect(merged.body).toMatchObject({ added: 1, deleted: 1, conflicts: [] });
    expect(await lives({ scope: 'main' })).toEqual(['lives_in(ann, paris)']);
  });
});

it('a merge of entities that would break a key lists all pairs', async () => {
  await declare('supersede');
  await tell(['ann', 'rome']);
  await tell(['anna', 'oslo']);
  await tell(['ann', 'rome'], { scope: 's' });
  await tell(['anna', 'paris'], { scope: 's' });
  const merge = () => call('POST', '/entities/merge', { from: 'anna', into: 'ann' });
  const refused = await merge();
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({
    code: 'KeyConflict',
    conflictCount: 2,
    conflicts: [
      { atom: 'lives_in(ann, oslo)', inTheWay: 'lives_in(ann, rome)', scope: null },
      { atom: 'lives_in(ann, paris)', inTheWay: 'lives_in(ann, rome)', scope: 's' },
    ],
  });
  await call('POST', '/retract', { predicate: 'lives_in', args: ['ann', 'rome'] });
  expect((await merge()).body).toMatchObject({ facts: 2 });
});

describe('a constraint over a keyed predicate', () => {
  const constrain = (text: string) => call('POST', '/constraints', { text, name: text, mode: 'reject' });

  it('judges what a write supersedes', async () => {
    await declare('supersede');
    await tell(['ann', 'rome']);
    await call('POST', '/tell', { predicate: 'mayor', args: ['ann', 'rome'] });
    await constrain('!- mayor(?p, ?c), not lives_in(?p, ?c)');
    expect((await tell(['ann', 'oslo'])).body).toMatchObject({ code: 'ConstraintViolated' });
    expect((await tell(['bob', 'oslo'])).status).toBe(200);
    expect(await lives()).toEqual(['lives_in(ann, rome)', 'lives_in(bob, oslo)']);
  });

  it('judges the new fact, without the one that it supersedes', async () => {
    await declare('supersede');
    await tell(['ann', 'rome']);
    await constrain('!- lives_in(?p, ?c), closed(?c)');
    await constrain('!- lives_in(?p, ?c), lives_in(?p, ?d), ?c != ?d');
    await call('POST', '/tell', { predicate: 'closed', args: ['atlantis'] });
    expect((await tell(['ann', 'atlantis'])).body).toMatchObject({ code: 'ConstraintViolated' });
    expect((await tell(['ann', 'oslo'])).status).toBe(200);
    expect(await lives()).toEqual(['lives_in(ann, oslo)']);
  });
});
