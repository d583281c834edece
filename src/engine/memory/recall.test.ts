import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { summaryInputSchema } from '../contract/context.ts';
import { memoryStatsQuerySchema, recallInputSchema } from '../contract/memory.ts';
import { renderAtom } from '../language/print.ts';
import {
  day,
  type Fields,
  hour,
  longest,
  openSession,
  refusal,
  type Session,
} from '../testing/engine-fixtures.ts';

/** Recall, the statistics of memory and the summary of a view: contract section 8. */

function recall({ engine, caller }: Session, fields: Fields = {}) {
  return engine.recall(caller, recallInputSchema.parse({ ...longest, ...fields }));
}

async function recalled(session: Session, fields: Fields = {}): Promise<string[]> {
  return (await recall(session, fields)).facts.map(renderAtom);
}

function stats({ engine, caller }: Session, fields: Fields = {}) {
  return engine.memoryStats(caller, memoryStatsQuerySchema.parse(fields));
}

function summary({ engine, caller }: Session, fields: Fields = {}) {
  return engine.summarizeContext(caller, summaryInputSchema.parse(fields));
}

test('recalls facts by salience, highest first, ties by rendered atom', async () => {
  const session = await openSession();
  await session.tellAll(['p(b)', 'p(a)', 'p(a!)', 'p("a,")', '-p(a)', 'o(z)']);
  session.clock.advance(day);
  await session.tell('p(new)');
  await session.results('p(b)');
  const expected = ['p(b)', 'p(new)', '-p(a)', 'o(z)', 'p("a,")', 'p(a!)', 'p(a)'];
  expect(await recalled(session)).toEqual(expected);
  expect(await recalled(session, { maxFacts: 3 })).toEqual(expected.slice(0, 3));
});

test('treats facts told a moment apart as equally salient for a second, then prefers the later one', async () => {
  const session = await openSession();
  for (const fact of ['p(c)', 'p(a)', 'p(b)']) {
    await session.tell(fact);
    session.clock.advance(5);
  }
  const asTold = session.clock.now();
  for (const [later, expected] of [
    [980, ['p(a)', 'p(b)', 'p(c)']],
    [995, ['p(b)', 'p(a)', 'p(c)']],
    [day, ['p(b)', 'p(a)', 'p(c)']],
  ] as const) {
    session.clock.set(asTold + later);
    const entries = await recall(session);
    expect(entries.facts.map(renderAtom), `${later} ms later`).toEqual(expected);
    expect(await recall(session)).toEqual(entries);
  }
});

test('recalls equal atoms of several scopes separately, the unscoped one first', async () => {
  const session = await openSession();
  for (const scope of ['t', 's']) await session.tell('p(a)', { scope });
  await session.tell('p(a)');
  expect((await recall(session)).facts.map(({ scope }) => scope)).toEqual([null, 's', 't']);
  expect((await recall(session, { scope: 's' })).facts.map(({ scope }) => scope)).toEqual(['s']);
  expect((await recall(session, { unscoped: true })).facts.map(({ scope }) => scope)).toEqual([null]);
  expect(await recall(session, { scope: 'nowhere' })).toMatchObject({ facts: [], totalFacts: 0 });
});

test('describes a fact in its entry, with its category and the length of its atom', async () => {
  const session = await openSession();
  await session.tell('p(old, "x, y")', { metadata: { source: 'me' } });
  const createdAt = session.clock.now();
  session.clock.advance(day);
  await session.tell('p(ends)', { ttl: hour });
  await session.tell('p(new)');
  const { facts, totalFacts, returned, generatedAt } = await recall(session);
  expect({ totalFacts, returned, generatedAt }).toEqual({
    totalFacts: 3,
    returned: 3,
    generatedAt: session.clock.now(),
  });
  expect(facts.map(({ category }) => category)).toEqual(['ephemeral', 'recent', 'asserted']);
  expect(facts[2]).toEqual({
    id: 'f1-0',
    predicate: 'p',
    args: ['old', 'x, y'],
    negated: false,
    scope: null,
    salience: 0.5,
    category: 'asserted',
    charCount: 'p(old, "x, y")'.length,
    provenance: null,
    createdAt,
    validFrom: null,
    validUntil: null,
    metadata: { source: 'me' },
  });
});

test('includes facts at minSalience, and counts totalFacts before the filters', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'q(a)']);
  session.clock.advance(day);
  expect(await recalled(session, { minSalience: 0.5 })).toEqual(['p(a)', 'q(a)']);
  expect(await recall(session, { minSalience: 0.5001 })).toMatchObject({ facts: [], totalFacts: 2 });
  expect(await recall(session, { predicates: ['q', 'never'] })).toMatchObject({ returned: 1, totalFacts: 2 });
});

/** Many facts, some of them used, some updated, many retracted so that their relation is compacted. */
async function tellMany(session: Session): Promise<void> {
  const names = Array.from({ length: 2000 }, (_, at) => `p(n${at})`);
  await session.tellAll(names);
  session.clock.advance(day);
  await session.tell('p(n77)', { metadata: { importance: 0.9 } });
  for (const at of [5, 1500, 1999]) await session.query(`p(n${at})`);
  session.clock.advance(day);
  await session.query('p(n1500)');
  await recall(session);
}

test('recalls the same after relations were compacted', async () => {
  const session = await openSession();
  await tellMany(session);
  for (const part of ['gone', 'kept'])
    await session.tellAll(
      Array.from({ length: part === 'gone' ? 3000 : 1000 }, (_, at) => `r(${part}, n${at})`),
    );
  await session.query('r(kept, n700)');
  const expected = await recalled(session, { maxFacts: 6001 });
  const left = expected.filter((atom) => !atom.startsWith('r(gone'));
  expect([expected.length, left.length]).toEqual([6000, 3000]);
  await session.forgetPattern('r(gone, ?x)');
  expect(await recalled(session, { maxFacts: 6000 })).toEqual(left);
  session.clock.advance(day);
  await session.query('r(kept, n900)');
  expect((await recalled(session))[0]).toBe('r(kept, n900)');
});

test('restores salience after a restart, except for questions after the last snapshot', async () => {
  const storageDir = await mkdtemp(join(tmpdir(), 'corollary-recall-'));
  onTestFinished(() => rm(storageDir, { recursive: true, force: true }));
  const session = await openSession({ storageDir });
  await tellMany(session);
  const before = await recall(session, { maxFacts: 2001 });
  await session.engine.close();
  const again = await openSession({ storageDir, clock: new ManualClock(session.clock.now()) });
  expect((await recall(again, { maxFacts: 2001 })).facts).toEqual(before.facts);
  again.clock.advance(day);
  await again.query('p(n3)');
  expect((await recalled(again, { maxFacts: 1 }))[0]).toBe('p(n3)');
});

test('recalls nothing after a nuke, then only new facts', async () => {
  const session = await openSession();
  await tellMany(session);
  await session.engine.nukeTenant(session.caller, 'default', session.caller.tenant);
  expect(await recall(session)).toMatchObject({ facts: [], totalFacts: 0 });
  await session.tellAll(['p(b)', 'p(a)']);
  expect(await recalled(session)).toEqual(['p(a)', 'p(b)']);
});

test('recalls only facts that are valid now', async () => {
  const session = await openSession();
  await session.tell('p(ends)', { ttl: hour });
  await session.tell('p(begins)', { validFrom: session.clock.now() + hour });
  expect(await recalled(session)).toEqual(['p(ends)']);
  session.clock.advance(hour);
  expect(await recalled(session)).toEqual(['p(begins)']);
  await session.forget('p(begins)');
  expect(await recall(session)).toMatchObject({ facts: [], totalFacts: 0 });
});

test('recalls nothing from an unknown tenant', async () => {
  const session = await openSession();
  expect(await recall(session)).toMatchObject({ facts: [], totalFacts: 0, returned: 0 });
  expect(await stats(session)).toMatchObject({ facts: 0, derived: 0, fading: [] });
  expect(await summary(session)).toMatchObject({ totalFacts: 0, topPredicates: [], topSalientFacts: [] });
});

test('recalls derived facts with includeInferred, as salient as the least stored premise of their proof', async () => {
  const session = await openSession();
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  await session.teach('always(so) :- 1 < 2');
  await session.tell('parent(a, b)');
  session.clock.advance(8 * day);
  await session.tell('parent(b, c)');
  session.clock.advance(day);
  const { facts, totalFacts } = await recall(session, { includeInferred: true });
  expect(facts.map((entry) => [renderAtom(entry), entry.salience])).toEqual([
    ['always(so)', 1],
    ['parent(b, c)', 0.5],
    ['grandparent(a, c)', 0.25],
    ['parent(a, b)', 0.25],
  ]);
  expect(totalFacts).toBe(4);
  expect(facts[2]).toMatchObject({
    category: 'inferred',
    provenance: {
      rule: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
      premises: ['parent(a, b)', 'parent(b, c)'],
    },
  });
  expect(await recalled(session)).toEqual(['parent(b, c)', 'parent(a, b)']);
});

test('counts a fact both stored and derived as stored; derives only the requested predicates', async () => {
  const session = await openSession();
  await session.teach('q(?x) :- p(?x)');
  await session.teach('r(?x) :- p(?x)');
  await session.tellAll(['p(a)', 'p(b)', 'q(a)']);
  const { facts, totalFacts } = await recall(session, { includeInferred: true, predicates: ['q'] });
  expect(facts.map((entry) => [renderAtom(entry), entry.category])).toEqual([
    ['q(a)', 'recent'],
    ['q(b)', 'inferred'],
  ]);
  expect(totalFacts).toBe(4);
});

test('refuses derived facts that take too long, and affects nothing else', async () => {
  const session = await openSession();
  await session.teach('less(?x, ?y) :- n(?x), n(?y), n(?z), n(?w), ?z < ?w');
  await session.tellAll(Array.from({ length: 300 }, (_, at) => `n(${at})`));
  const refused = await refusal(recall(session, { includeInferred: true, timeoutMs: 50 }));
  expect(refused.code).toBe('InferenceLimitExceeded');
  expect(refused.members).toMatchObject({ limit: 'timeoutMs' });
  expect((await recall(session)).returned).toBe(100);
});

test('counts every visible fact in its histogram bin of 0.05', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)']);
  await session.tell('p(zero)', { metadata: { importance: 0 } });
  session.clock.advance(day);
  await session.tell('p(one)', { metadata: { importance: 1 } });
  const { facts, histogram } = await stats(session);
  expect(facts).toBe(4);
  expect(histogram).toHaveLength(20);
  expect([histogram[0], histogram[10], histogram[19]]).toEqual([1, 2, 1]);
  expect(histogram.reduce((sum, count) => sum + count)).toBe(4);
});

test('counts a fact that expires within an hour as expiring within a day and a week too', async () => {
  const session = await openSession();
  for (const [name, ttl] of Object.entries({
    a: hour,
    b: hour + 1,
    c: 24 * hour,
    d: 7 * day,
    e: 7 * day + 1,
  }))
    await session.tell(`p(${name})`, { ttl });
  await session.tell('p(never)');
  await session.tell('p(later)', { validFrom: session.clock.now() + 1, ttl: hour });
  expect((await stats(session)).expiring).toEqual({ within1h: 1, within24h: 3, within7d: 4 });
  expect(await summary(session)).toMatchObject({ factsWithTtl: 5, factsExpiringWithin1h: 1 });
});

test('lists as fading the ten least salient unpinned facts, least first, ties by rendered atom', async () => {
  const session = await openSession();
  await session.tell('p(pinned)', { metadata: { pinned: true } });
  await session.tellAll(['p(z)', 'p(y)']);
  session.clock.advance(day);
  await session.tellAll(Array.from({ length: 20 }, (_, at) => `p(n${at})`));
  await session.tell('p(zero)', { metadata: { confidence: 0 } });
  const { fading } = await stats(session);
  const rest = ['p(n0)', 'p(n1)', 'p(n10)', 'p(n11)', 'p(n12)', 'p(n13)', 'p(n14)'];
  expect(fading.map(renderAtom)).toEqual(['p(zero)', 'p(y)', 'p(z)', ...rest]);
});

test('forecasts the statistics as they will be if nothing is used or written', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)', 'q(x, y)']);
  await session.results('p(a)');
  await session.tell('p(soon)', { ttl: 2 * day });
  await session.tell('p(later)', { ttl: 9 * day });
  await session.tell('p(pinned)', { metadata: { pinned: true } });
  await session.tell('p(unsure)', { metadata: { confidence: 0.2 } });
  for (const inDays of [1, 7, 30]) {
    const forecast = await stats(session, { inDays: String(inDays) });
    session.clock.advance(inDays * day);
    expect(forecast, `in ${inDays} days`).toEqual(await stats(session));
    session.clock.advance(-inDays * day);
  }
  expect((await stats(session, { inDays: '30' })).facts).toBe(5);
  expect(await stats(session, { inDays: '0' })).toEqual(await stats(session));
});

test('counts known conclusions as derived, of the scope if one is given', async () => {
  const session = await openSession();
  await session.teach('q(?x) :- p(?x)');
  await session.tellAll(['p(a)', 'p(b)']);
  await session.tell('p(c)', { scope: 's' });
  expect((await stats(session)).derived).toBe(0);
  await session.results('q(?x)', { scope: 's' });
  expect((await stats(session)).derived).toBe(1);
  await session.results('q(?x)', { unscoped: true });
  expect((await stats(session, { scope: 's' })).derived).toBe(1);
  expect((await stats(session, { unscoped: 'true' })).derived).toBe(2);
  expect((await stats(session)).derived).toBe(3);
});

test('counts predicates by name in the summary, the most frequent first', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(a, b)', '-p(b)', 'q(a)', 'o(a)', 'o(b)', 'o("")']);
  const names = Array.from({ length: 12 }, (_, at) => `n${at}(a)`);
  await session.tellAll(names);
  const found = await summary(session);
  expect(found).toMatchObject({ totalFacts: 19, predicateCount: 15, knowledgeGeneration: 2 });
  expect(found.topPredicates.slice(0, 3)).toEqual([
    { predicate: 'o', count: 3 },
    { predicate: 'p', count: 3 },
    { predicate: 'n0', count: 1 },
  ]);
  expect(found.topPredicates).toHaveLength(10);
  expect(found.topSalientFacts).toHaveLength(10);
});

test('sums the lengths of all rendered atoms in totalCharCount, whatever they contain', async () => {
  const session = await openSession();
  const atoms = [
    'p()',
    'p("")',
    'p(" a", "b,c")',
    '-pé(ü, 😀)',
    'p("\\u0001\\"")',
    'q(a b, 50%)',
    'p(\u00a0x)',
  ];
  const stored = atoms.map((atom) => atom.replace('(\u00a0x)', '("\u00a0x")'));
  await session.tellAll(stored);
  expect((await summary(session)).totalCharCount).toBe(stored.join('').length);
});

test('lists atoms that are both true and false as contradictions, across scopes in the view of everything', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', '-p(a)', 'p(b)', '-p(c)']);
  await session.tell('-p(b)', { scope: 's' });
  await session.tell('p(c)', { ttl: hour });
  expect((await summary(session)).contradictions).toBe(3);
  expect((await summary(session, { unscoped: true })).contradictions).toBe(2);
  expect((await summary(session, { scope: 's' })).contradictions).toBe(0);
  session.clock.advance(hour);
  expect((await summary(session)).contradictions).toBe(2);
});
