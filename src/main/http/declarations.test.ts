import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FactOutcome } from '../../engine/contract/facts.ts';
import type { PredicateDetail } from '../../engine/contract/declarations.ts';
import type { ViolationList } from '../../engine/contract/violations.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Declarations over HTTP: contract section 14. */

let service: ServiceUnderTest;
let database = '';
let count = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

beforeEach(async () => {
  database = `shape-${++count}`;
  await service.call('POST', '/databases', { name: database });
});

function call<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return service.call<Body>(method, path, body, { headers: { 'x-database': database, ...headers } });
}

/** The answer as text, which may be several lines of JSON. */
async function textOf(
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(`${service.address}${path}`, {
    method,
    headers: { 'x-tenant-id': 'default', 'x-database': database, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return response.text();
}

const person = { name: 'person', type: 'entity' };
const city = { name: 'city', description: 'where', type: 'entity' };

/** Declares lives_in/2 with the key person. */
async function declare(onConflict: string, fields: object = {}): Promise<void> {
  const body = { arguments: [person, city], key: ['person'], onConflict, ...fields };
  expect((await call('PUT', '/predicates/lives_in/2', body)).status).toBe(200);
}

async function tell(args: string[], fields: object = {}, headers: Record<string, string> = {}) {
  return call<FactOutcome & { code?: string; detail?: string; inTheWay?: { atom: string } }>(
    'POST',
    '/tell',
    { predicate: 'lives_in', args, ...fields },
    headers,
  );
}

async function lives(of = 'ann'): Promise<string[]> {
  const { body } = await call<{ args: string[] }[]>('POST', '/query', {
    predicate: 'lives_in',
    args: [of, '?c'],
  });
  return body.map(({ args }) => args[1] as string).sort();
}

describe('PUT, GET and DELETE /predicates/:name/:arity', () => {
  it('declares with the defaults, tells counts, examples and violations, and withdraws', async () => {
    const put = await call('PUT', '/predicates/age/2', { arguments: [{ name: 'who' }, { name: 'years' }] });
    expect(put).toMatchObject({
      status: 200,
      body: {
        status: 'added',
        name: 'age',
        arity: 2,
        description: null,
        arguments: [
          { name: 'who', description: null, type: 'any' },
          { name: 'years', description: null, type: 'any' },
        ],
        key: [],
        onConflict: 'warn',
        check: 'warn',
      },
    });
    await call('POST', '/tell', { predicate: 'age', args: ['ann', 'old'] });
    const again = await call<{ status: string; generation: number }>('PUT', '/predicates/age/2', {
      arguments: [{ name: 'who' }, { name: 'years', type: 'integer' }],
      key: ['who'],
    });
    expect(again.body).toMatchObject({ status: 'updated', generation: 3 });
    expect(
      (
        await call('PUT', '/predicates/age/2', {
          arguments: [{ name: 'who' }, { name: 'years', type: 'integer' }],
          key: ['who'],
        })
      ).body,
    ).toMatchObject({ status: 'unchanged', generation: 3 });
    const { body } = await call<PredicateDetail>('GET', '/predicates/age/2');
    expect(body).toMatchObject({ facts: 1, examples: ['age(ann, old)'], violations: { key: 0, shape: 1 } });
    expect((await call('DELETE', '/predicates/age/2')).body).toMatchObject({
      status: 'withdrawn',
      generation: 4,
    });
    expect((await call('GET', '/predicates/age/2')).status).toBe(404);
    expect((await call('DELETE', '/predicates/age/2')).status).toBe(404);
  });

  it.each([
    [{ arguments: [{ name: 'only' }] }, 'arguments'],
    [{ arguments: [{ name: 'a' }, { name: 'a' }] }, 'arguments.1.name'],
    [{ arguments: [{ name: 'a b' }, { name: 'c' }] }, 'arguments.0.name'],
    [{ key: ['a'] }, 'key.0'],
    [{ arguments: [{ name: 'a' }, { name: 'b', type: 'colour' }] }, 'arguments.1.type'],
    [{ arguments: [{ name: 'a' }, { name: 'b', type: { oneOf: [] } }] }, 'arguments.1.type.oneOf'],
    [{ onConflict: 'ignore' }, 'onConflict'],
  ])('refuses %j', async (body, path) => {
    const refused = await call<{ errors: { path: string }[] }>('PUT', '/predicates/p/2', body);
    expect(refused.status).toBe(400);
    expect(refused.body.errors.map((each) => each.path)).toContain(path);
  });

  it('changes of a declaration are published and survive in transactions as a whole or not', async () => {
    const { body: begun } = await call<{ id: string }>('POST', '/tx/begin', {});
    const inside = { 'x-transaction-id': begun.id };
    const pending = await call(
      'PUT',
      '/predicates/p/1',
      { arguments: [{ name: 'a', type: 'integer' }], check: 'reject' },
      inside,
    );
    expect(pending.body).toEqual({ status: 'pending', predicate: 'p/1' });
    expect((await call('GET', '/predicates/p/1')).status).toBe(404);
    const refused = await call('POST', '/tell', { predicate: 'p', args: ['x'] }, inside);
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'ShapeViolation', transaction: 'rolled_back' },
    });
    expect((await call('GET', '/predicates/p/1')).status).toBe(404);
  });
});

describe('check', () => {
  it.each([
    ['integer', '12', '1.5'],
    ['number', '1.5e3', '007'],
    ['boolean', 'true', 'yes'],
    ['date', '2024-02-29', '2023-02-29'],
    ['instant', '2024-02-29T10:00Z', '2024-02-29'],
    ['instant', '1700000000000', 'now'],
    [{ oneOf: ['red', 'green'] }, 'red', 'blue'],
  ])('type %j takes %s and not %s', async (type, good, bad) => {
    const put = { arguments: [{ name: 'value', type }], check: 'reject' };
    expect((await call('PUT', '/predicates/v/1', put)).status).toBe(200);
    expect((await call('POST', '/tell', { predicate: 'v', args: [good] })).status).toBe(200);
    for (const truthVal of [true, false])
      expect(await call('POST', '/tell', { predicate: 'v', args: [bad], truthVal })).toMatchObject({
        status: 422,
        body: { code: 'ShapeViolation', path: 'args.0', value: bad },
      });
    const bulk = await call('POST', '/assert/facts', [
      { predicate: 'v', args: [good] },
      { predicate: 'v', args: [bad] },
    ]);
    expect(bulk).toMatchObject({ status: 422, body: { path: 'facts.1.args.0' } });
    await call('PUT', '/predicates/v/1', { ...put, check: 'warn' });
    const warned = await call<{ hints: string[] }>('POST', '/tell', { predicate: 'v', args: [bad] });
    expect(warned.status).toBe(200);
    expect(warned.body.hints[0]).toContain('v/1 is declared otherwise');
    const { body } = await call<ViolationList>('GET', '/violations?kind=shape');
    expect(body).toMatchObject({ total: 1, violations: [{ kind: 'shape', bindings: { value: bad } }] });
  });
});

describe('key', () => {
  it('supersede ends the old fact where the new one begins, in the same generation', async () => {
    await declare('supersede');
    const first = await tell(['ann', 'york'], { validFrom: 1000 });
    expect(first.body.superseded).toBeUndefined();
    const { body } = await tell(['ann', 'rome'], { validFrom: 2000 });
    expect(body.superseded).toEqual([{ id: first.body.id, atom: 'lives_in(ann, york)', validUntil: 2000 }]);
    expect(body.generation).toBe(first.body.generation + 1);
    expect(await lives()).toEqual(['rome']);
    const equal = await tell(['ann', 'oslo'], { validFrom: 2000 });
    expect(equal.body.superseded).toEqual([
      { id: body.id, atom: 'lives_in(ann, rome)', validUntil: 2000, retracted: true },
    ]);
    const earlier = await tell(['ann', 'bonn'], { validFrom: 1500 });
    expect(earlier).toMatchObject({ status: 409, body: { code: 'KeyConflict' } });
    expect(earlier.body.inTheWay?.atom).toBe('lives_in(ann, oslo)');
    expect((await tell(['ann', 'bonn'], { validFrom: 1500, validUntil: 2000 })).status).toBe(200);
    expect((await tell(['ann', 'paris'], { validFrom: 'always' })).status).toBe(409);
    expect(await lives()).toEqual(['oslo']);
  });

  it('supersede without validFrom begins now, or where a later fact begins', async () => {
    await declare('supersede');
    const before = Date.now();
    await tell(['ann', 'york']);
    const { body: listed } = await call<{ facts: { validFrom: number }[] }>(
      'GET',
      '/facts?predicate=lives_in',
    );
    expect(listed.facts[0]?.validFrom).toBeGreaterThanOrEqual(before);
    const later = Date.now() + 10_000_000;
    await tell(['ann', 'rome'], { validFrom: later });
    const { body } = await tell(['ann', 'oslo']);
    expect(body.superseded).toEqual([
      expect.objectContaining({ atom: 'lives_in(ann, rome)', retracted: true }),
    ]);
    expect(await lives()).toEqual(['york']);
  });

  it('scopes, false facts and other keys are apart; retracting the new fact leaves the old one ended', async () => {
    await declare('supersede');
    await tell(['ann', 'york'], { scope: 'plan' });
    await tell(['ann', 'rome']);
    await tell(['ann', 'oslo'], { truthVal: false });
    await tell(['bob', 'york']);
    expect(await lives()).toEqual(['oslo', 'rome', 'york']);
    const { body } = await tell(['ann', 'bonn'], { validFrom: Date.now() + 5 });
    expect(body.superseded).toHaveLength(1);
    await call('POST', '/retract', { predicate: 'lives_in', args: ['ann', 'bonn'] });
    const { body: facts } = await call<{ facts: { args: string[]; validUntil: number | null }[] }>(
      'GET',
      '/facts?predicate=lives_in&unscoped=true&truthVal=true',
    );
    for (const { args, validUntil } of facts.facts) if (args[1] === 'rome') expect(validUntil).not.toBeNull();
  });

  it('reject names the fact in the way, warn stores both and lists them', async () => {
    await declare('reject');
    await tell(['ann', 'york']);
    const refused = await tell(['ann', 'rome']);
    expect(refused).toMatchObject({ status: 409, body: { code: 'KeyConflict' } });
    expect(refused.body.inTheWay?.atom).toBe('lives_in(ann, york)');
    expect((await tell(['ann', 'york'])).body.status).toBe('unchanged');
    await declare('warn');
    expect((await tell(['ann', 'rome'])).status).toBe(200);
    const { body } = await call<ViolationList>('GET', '/violations');
    expect(body).toMatchObject({
      total: 1,
      violations: [
        {
          kind: 'key',
          bindings: { person: 'ann' },
          facts: [{ atom: 'lives_in(ann, york)' }, { atom: 'lives_in(ann, rome)' }],
          proof: { roots: [0, 1] },
        },
      ],
    });
    await declare('supersede');
    expect((await tell(['ann', 'oslo'])).body.superseded).toHaveLength(2);
    expect((await call<ViolationList>('GET', '/violations')).body.total).toBe(0);
  });

  it('facts of one request count in their order', async () => {
    await declare('supersede');
    const { body } = await call<FactOutcome>('POST', '/assert/facts', [
      { predicate: 'lives_in', args: ['ann', 'york'], validFrom: 1000 },
      { predicate: 'lives_in', args: ['ann', 'rome'], validFrom: 2000 },
      { predicate: 'lives_in', args: ['ann', 'oslo'] },
    ]);
    expect(body.superseded?.map(({ atom }) => atom)).toEqual(['lives_in(ann, york)', 'lives_in(ann, rome)']);
    expect(await lives()).toEqual(['oslo']);
    const reversed = await call('POST', '/assert/facts', [
      { predicate: 'lives_in', args: ['bob', 'york'], validFrom: 2000 },
      { predicate: 'lives_in', args: ['bob', 'rome'], validFrom: 1000 },
    ]);
    expect(reversed).toMatchObject({
      status: 409,
      body: { code: 'KeyConflict', errors: [{ path: 'facts.1' }] },
    });
    expect(await lives('bob')).toEqual([]);
  });

  it('a fact that ends before the key lets it begin is refused, also within one request', async () => {
    await declare('supersede');
    const fact = { predicate: 'lives_in', args: ['ann', 'york'] };
    const refused = await call('POST', '/assert/facts', [fact, { ...fact, validUntil: 1000 }]);
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'facts.1.validUntil' }] } });
    expect(await lives()).toEqual([]);
  });

  it('a predicate with a key is never consolidated, also where it is named', async () => {
    await declare('warn');
    for (const where of ['a', 'b', 'c', 'd']) await tell(['ann', where], { metadata: { episode: true } });
    const consolidate = async () =>
      (await call<{ summariesCreated: number }>('POST', '/memory/consolidate', { predicates: ['lives_in'] }))
        .body.summariesCreated;
    expect(await consolidate()).toBe(0);
    await call('DELETE', '/predicates/lives_in/2');
    expect(await consolidate()).toBe(1);
  });

  it('a transaction is judged at its commit, and a key changed by another is a conflict', async () => {
    await declare('supersede');
    await tell(['ann', 'york']);
    const begin = async () => (await call<{ id: string }>('POST', '/tx/begin', {})).body.id;
    const id = await begin();
    await tell(['ann', 'rome'], {}, { 'x-transaction-id': id });
    expect((await call<{ superseded: unknown }>('POST', `/tx/commit/${id}`, {})).body).toMatchObject({
      superseded: [{ atom: 'lives_in(ann, york)' }],
    });
    expect(await lives()).toEqual(['rome']);
    const late = await begin();
    await tell(['ann', 'oslo'], {}, { 'x-transaction-id': late });
    await tell(['ann', 'bonn']);
    expect(await call('POST', `/tx/commit/${late}`, {})).toMatchObject({
      status: 409,
      body: { code: 'Conflict' },
    });
    expect(await lives()).toEqual(['bonn']);
  });
});

describe('export and import', () => {
  const put = {
    arguments: [{ ...person, description: null }, city],
    key: ['person'],
    onConflict: 'supersede',
    description: 'where "somebody" lives',
  };

  it.each([
    ['ndjson', 'application/x-ndjson'],
    ['datalog', 'text/x-datalog'],
  ])('declarations come first in %s and come back', async (format, type) => {
    await call('PUT', '/predicates/lives_in/2', put);
    await tell(['ann', 'york'], { validFrom: 'always' });
    await call('POST', '/teach', { text: 'town(?c) :- lives_in(?_, ?c)' });
    const exported = await textOf('GET', `/export?format=${format}`);
    const lines = exported.trim().split('\n');
    expect(lines[0]).toContain(format === 'ndjson' ? '{"declare":{"name":"lives_in"' : ':declare lives_in(');
    if (format === 'ndjson') expect(lines[1]).toContain('"validFrom":"always"');
    await service.call('POST', '/databases', { name: `${database}-copy` });
    const imported = await textOf('POST', '/import', exported, {
      'content-type': type,
      'x-database': `${database}-copy`,
    });
    expect(JSON.parse(imported.trim().split('\n').at(-1) ?? '')).toMatchObject({
      asserted: 1,
      rules: 1,
      declarations: 1,
      failed: 0,
    });
    const copy = await call<PredicateDetail>('GET', '/predicates/lives_in/2', undefined, {
      'x-database': `${database}-copy`,
    });
    expect(copy.body).toMatchObject({ ...put, facts: 1 });
  });

  it('an import names the lines that a type or a key refuses, and stores the rest', async () => {
    await call('PUT', '/predicates/lives_in/2', { ...put, onConflict: 'reject' });
    const lines = [
      {
        declare: { name: 'age', arity: 1, arguments: [{ name: 'years', type: 'integer' }], check: 'reject' },
      },
      { predicate: 'lives_in', args: ['ann', 'york'] },
      { predicate: 'lives_in', args: ['ann', 'rome'] },
      { predicate: 'age', args: ['old'] },
      { predicate: 'age', args: ['3'] },
      { declare: { name: 'age', arity: 1, key: ['nothing'] } },
    ];
    const body = lines.map((line) => JSON.stringify(line)).join('\n');
    for (const dryRun of [true, false]) {
      const answer = await textOf('POST', `/import?dryRun=${dryRun}`, body, {
        'content-type': 'application/x-ndjson',
      });
      const done = JSON.parse(answer.trim().split('\n').at(-1) ?? '') as { errors: { line: number }[] };
      expect(done).toMatchObject({ asserted: 2, failed: 3, declarations: 1 });
      expect(done.errors.map(({ line }) => line)).toEqual([3, 4, 6]);
    }
    expect(await lives()).toEqual(['york']);
  });

  it('predicates lists declarations, also of what has no facts', async () => {
    await call('PUT', '/predicates/lives_in/2', put);
    const { body } = await call<{ predicates: object[] }>('GET', '/predicates');
    expect(body.predicates).toEqual([
      expect.objectContaining({
        name: 'lives_in',
        facts: 0,
        declaration: expect.objectContaining(put) as object,
      }),
    ]);
  });
});
