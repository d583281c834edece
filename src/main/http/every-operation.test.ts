import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CreatedKey } from '../../engine/contract/authentication.ts';
import { jsonSchemaOf } from '../../engine/contract/json-schema.ts';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type AnyAnswer, type Call, callOf, send, type Surroundings } from '../testing/calls-under-test.ts';
import { type EverythingUnderTest, startEverythingUnderTest } from '../llm/testing/everything-under-test.ts';

/**
 * Properties of every operation: sentences of contract sections 1 and 9, each a loop over the table. Two services get
 * the same input, with a stopped clock.
 */
let all: EverythingUnderTest;
let twin: EverythingUnderTest;
let otherCredential: Record<string, string>;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 1) });
  all = await startEverythingUnderTest('w');
  twin = await startEverythingUnderTest('w');
  for (const each of [all, twin]) {
    const answer = await send(each, { method: 'POST', path: '/auth/keys', body: { role: 'admin' } });
    otherCredential ??= { 'x-api-key': (answer.body as unknown as CreatedKey).key };
  }
});

afterAll(async () => {
  vi.useRealTimers();
  await all.close();
  await twin.close();
});

const table = Object.entries<OperationSpec>(operations) as [OperationName, OperationSpec][];
/** It takes the nodes of a store: ../service/nodes.test.ts. */
const ofNodes: OperationName = 'moveLog';
const writes = table.filter(
  ([name, spec]) =>
    spec.kind === 'write' && spec.guessable !== true && spec.takes === undefined && name !== ofNodes,
);

let keys = 0;

function within(call: Call, headers: Record<string, string>): Call {
  return { ...call, headers: { ...call.headers, ...headers } };
}

describe('an Idempotency-Key on any write', () => {
  it.each(writes)('%s: the same key returns the first answer again, another body 422', async (name) => {
    const key = { 'idempotency-key': `key-${++keys}` };
    const call = within(await callOf[name](all), key);
    const first = await send(all, call);
    expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const again = await send(all, call);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const another = await send(all, { ...call, body: { another: 'body' } });
    expect([another.status, another.body['code']]).toEqual([422, 'IdempotencyMismatch']);
    const others = await send(all, within(call, otherCredential));
    expect(others.headers.get('idempotent-replayed')).toBeNull();
    expect(others.body['code']).not.toBe('IdempotencyMismatch');
  });

  it('is ignored by the bootstrap, which has no credential: its second call returns 409', async () => {
    const fresh = await startEverythingUnderTest('b');
    try {
      const call = within(await callOf.bootstrap(fresh), { 'idempotency-key': 'key', 'x-api-key': '' });
      const statuses = [(await send(fresh, call)).status, (await send(fresh, call)).status];
      expect(statuses).toEqual([201, 409]);
    } finally {
      await fresh.close();
    }
  });
});

/** The write counter of the database `default`. */
async function generationNow(at: Surroundings): Promise<unknown> {
  const asked = { method: 'POST', path: '/ask', body: { predicate: 'nothing', args: [] } };
  return (await send(at, asked)).body['generation'];
}

describe('the answer to a write of facts, rules or scopes', () => {
  const names = [
    'assertFact',
    'assertFacts',
    'retract',
    'retractPattern',
    'deleteFact',
    'assertRule',
    'updateRule',
    'deleteRule',
    'commitTransaction',
    'rollbackTransaction',
    'forkScope',
    'mergeScopes',
    'deleteScope',
    'consolidate',
    'restore',
    'decay',
    'contextOfTurns',
    'ingest',
    'extract',
    'importKnowledge',
    'undoImport',
  ] as const satisfies OperationName[];

  it.each(names)('of %s carries the generation after it', async (name) => {
    const { body } = await send(all, await callOf[name](all));
    expect(body['generation']).toBeTypeOf('number');
    expect(body['generation']).toBe(await generationNow(all));
  });

  it.each(['nukeDatabase', 'nukeTenant', 'deleteTenant'] as const)('of %s carries one', async (name) => {
    expect((await send(all, await callOf[name](all))).body['generation']).toBeTypeOf('number');
  });
});

/** Everything that calls can see, except what any call changes. */
async function everything(at: EverythingUnderTest): Promise<unknown[]> {
  const paths = ['/facts?limit=1000', '/rules', '/scopes', '/predicates', '/databases', '/memory/stats'];
  const { factsAsserted, factsRetracted, factsEvicted, rulesFired, records } = at.service.engine.counters();
  const answers = await Promise.all(paths.map((path) => send(at, { method: 'GET', path })));
  return [
    { factsAsserted, factsRetracted, factsEvicted, rulesFired, records },
    ...answers.map(({ body }) => body),
  ];
}

describe('dryRun', () => {
  const dry = table.filter(([, { dryRun }]) => dryRun !== undefined);

  it.each(dry)(
    'of %s returns the answer of the call with dryRun: true, and changes nothing',
    async (name, spec) => {
      const call = await callOf[name](all);
      const tried: Call =
        spec.dryRun === 'query'
          ? { ...call, path: `${call.path}?dryRun=true` }
          : { ...call, body: { ...(call.body as object), dryRun: true } };
      const before = await everything(all);
      const { status, body } = await send(all, tried);
      expect([status, body['dryRun']]).toEqual([200, true]);
      expect(await everything(all)).toEqual(before);
      expect(sameFor(name, (await send(all, tried)).body)).toEqual(sameFor(name, body));
      const done = await send(all, call);
      expect(done.status).toBe(200);
      const { dryRun: _, generation, ...promised } = body;
      expect(generation).toBeTypeOf('number');
      expect(sameFor(name, promised)).toEqual(
        sameFor(name, Object.fromEntries(Object.entries(done.body).filter(([key]) => key in promised))),
      );
    },
  );

  /** What may differ between a dry run and the call: ids, and fields that only one of them has. */
  function sameFor(name: OperationName, answer: Record<string, unknown>): Record<string, unknown> {
    const { id: _, gained: _g, lost: _l, ...rest } = answer;
    if (name === 'addConstraint' || name === 'updateConstraint') {
      const { violations: _v, violationCount: _c, ...outcome } = answer;
      return outcome;
    }
    return name === 'importKnowledge' || name === 'commitTransaction' ? rest : answer;
  }
});

describe('the same knowledge, clock and request give the same bytes', () => {
  const unlike =
    /"(?:requestId|(?:previousW|currentW|w)indowId|elapsedMs|generatedAt|fired|lastUsedAt|dependents|address)":(?:"[^"]*"|[\d.e-]+|\[[^\]]*\]|null)/g;
  const textOf = ({ status, body }: AnyAnswer): string =>
    `${status} ${JSON.stringify(body).replace(unlike, '')}`;
  // Messages of a bridge name the address that it was started for.
  const reads = table.filter(
    ([name, { kind, stream }]) =>
      kind === 'read' && stream !== 'events' && !/^(?:health|listKeys|testBridge)$/.test(name),
  );

  it.each(reads)('%s, asked twice, and of a second service with the same data', async (name) => {
    // Earlier tests may have changed one service more than the other.
    const [database, headers] = [`d-${name}`, { 'x-database': `d-${name}`, 'x-tenant-id': 'same' }];
    const texts: string[] = [];
    for (const each of [all, twin]) {
      await send(each, { method: 'POST', path: '/databases', body: { name: database } });
      let words = 0;
      const at = { ...each, headers: { ...each.headers, ...headers }, word: () => `s${++words}-${name}` };
      const call = await callOf[name](at);
      texts.push(textOf(await send(at, call)));
      const isUnchanged = ![
        'optimizeContext',
        'diffContext',
        'takeSnapshot',
        'takeBackup',
        'storageState',
      ].includes(name);
      if (isUnchanged) texts.push(textOf(await send(at, call)));
    }
    // `since` of the history depends on the snapshots of the service.
    if (/^(?:history|listDatabases|takeSnapshot|takeBackup|storageState|replication\w+)$/.test(name))
      expect(texts[0]).toMatch(/^200 /);
    else expect(new Set(texts)).toEqual(new Set([texts[0]]));
  });
});

/** Bodies with every object that they may contain. */
const fullBodies: { readonly [Name in OperationName]?: object } = {
  assertFact: { predicate: 'p', args: ['a'], metadata: { any: { thing: 1 } } },
  assertFacts: { facts: [{ predicate: 'p', args: ['a'] }] },
  assertRule: {
    head: { predicate: 'h', args: ['?x', '?n'] },
    body: [
      { predicate: 'p', args: ['?x'] },
      { aggregate: 'count', result: '?n', over: ['?y'], body: [{ predicate: 'q', args: ['?x', '?y'] }] },
    ],
  },
  ask: { body: [{ predicate: 'p', args: ['?x'] }] },
  trace: { body: [{ predicate: 'p', args: ['?x'] }] },
  whatIf: {
    assert: [{ predicate: 'p', args: ['a'] }],
    retract: [{ predicate: 'p', args: ['b'] }],
    rules: [{ head: { predicate: 'h', args: ['?x'] }, body: [{ predicate: 'p', args: ['?x'] }] }],
    goals: [{ predicate: 'h', args: ['?x'] }],
  },
  mergeScopes: {
    source: null,
    target: 'somewhere',
    strategy: 'REJECT',
    resolutions: [{ predicate: 'p', args: ['a'], take: 'both' }],
  },
  optimizeContext: {
    goals: [{ predicate: 'p', args: ['?x'] }],
    relevanceBuckets: [{ name: 'b', predicates: ['p'], weight: 1 }],
  },
};

/** The paths of all objects in a value, outermost first, except those inside metadata. */
function objectsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null || path.at(-1) === 'metadata') return [];
  const below = Object.entries(value).flatMap(([key, part]) => objectsIn(part, [...path, key]));
  return Array.isArray(value) ? below : [path, ...below];
}

function withField(value: object, path: readonly string[], field: string): object {
  const copy = structuredClone(value);
  let place = copy as Record<string, unknown>;
  for (const part of path) place = place[part] as Record<string, unknown>;
  place[field] = 1;
  return copy;
}

describe('a number that many requests share', () => {
  const ranges = { limit: [1, 100_000], offset: [0, null], timeoutMs: [1, 600_000] } as const;
  const having = table.flatMap(([name, { body }]) =>
    Object.keys(ranges)
      .filter(
        (field) => body !== undefined && JSON.stringify(jsonSchemaOf(body, 'input')).includes(`"${field}":`),
      )
      .map((field) => [name, field as keyof typeof ranges] as const),
  );

  it.each(having)('of %s: %s is accepted within its range and rejected outside', async (name, field) => {
    const call = await callOf[name](all);
    const [least, greatest] = ranges[field];
    const statusWith = async (value: unknown) =>
      (await send(all, { ...call, body: { ...(call.body as object), [field]: value } })).status;
    for (const value of [least, greatest ?? 1e15])
      expect(await statusWith(value), String(value)).not.toBe(400);
    for (const value of [least - 1, (greatest ?? 2 ** 53) + 1, 1.5, String(least), true])
      expect(await statusWith(value), String(value)).toBe(400);
  });
});

describe('a POST without required fields', () => {
  const needsNone = table.filter(
    ([, { method, body, takes }]) =>
      method === 'POST' && takes === undefined && (body === undefined || body.safeParse({}).success),
  );

  it.each(needsNone)('accepts an empty body: %s', async (name) => {
    const { method, path } = await callOf[name](all);
    expect((await send(all, { method, path })).status).toBeLessThan(300);
    const again = await callOf[name](all);
    expect((await send(all, { method, path: again.path, body: {} })).status).toBeLessThan(300);
  });
});

describe('a body', () => {
  const taking = table.filter(([, spec]) => spec.body !== undefined && spec.takes === undefined);

  it.each(taking)('of %s with an unknown field anywhere returns 400 that names it', async (name, spec) => {
    const call = await callOf[name](all);
    const body = fullBodies[name] ?? (call.body as object);
    const refuse = async (path: readonly string[]): Promise<void> => {
      const answer = await send(all, { ...call, body: withField(body, path, 'unheardOf') });
      expect(answer.status, path.join('.')).toBe(400);
      const error = { path: [...path, 'unheardOf'].join('.'), message: 'unknown field' };
      expect(answer.body['errors']).toContainEqual(error);
    };
    await Promise.all(objectsIn(body).map(refuse));
    const query = await send(all, { ...call, path: `${call.path}?unheardOf=1` });
    expect([query.status, JSON.stringify(query.body['errors'])]).toEqual([
      400,
      expect.stringContaining('unheardOf'),
    ]);
    expect(spec.body).toBeDefined();
  });

  it.each(taking)(
    'of %s with null in every other optional field is treated as if they were absent',
    async (name, spec) => {
      if (name === 'bootstrap' || name === ofNodes) return;
      const call = await callOf[name](all);
      const optional = optionalFields(jsonSchemaOf(spec.body ?? expect.fail(), 'input'));
      const given = call.body as Record<string, unknown>;
      const nulls = Object.fromEntries(
        optional.filter((field) => !(field in given)).map((field) => [field, null]),
      );
      const { status, body } = await send(all, { ...call, body: { ...given, ...nulls } });
      expect(status, JSON.stringify(body)).toBeLessThan(300);
    },
  );

  /** From an object's schema, or from all of several. */
  function optionalFields(schema: Record<string, unknown>): string[] {
    const required = new Set((schema['required'] as string[] | undefined) ?? []);
    const own = Object.keys((schema['properties'] as object | undefined) ?? {});
    const choices = (schema['anyOf'] ?? schema['allOf'] ?? []) as Record<string, unknown>[];
    return [...own.filter((field) => !required.has(field)), ...choices.flatMap(optionalFields)];
  }
});
