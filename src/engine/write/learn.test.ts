import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import type { Learning } from './learn.ts';
import { parseAtom } from '../language/parse.ts';
import { renderAtom } from '../language/print.ts';
import { day, openSession, refusal, ruleInput, type Session } from '../testing/engine-fixtures.ts';

function learning(
  atoms: readonly string[],
  rules: readonly string[] = [],
  more: Partial<Learning> = {},
): Learning {
  const facts = atoms.map((text) => {
    const { predicate, args, negated } = parseAtom(text);
    return { predicate, args, truthVal: !negated, scope: null, metadata: { source: 'text' } };
  });
  return { facts, rules: rules.map((text) => ruleInput({ text })), turns: null, note: null, ...more };
}

function learn({ engine, caller }: Session, ...given: Parameters<typeof learning>) {
  return engine.learn(caller, learning(...given));
}

const view = { scope: null, unscoped: false };

describe('what a text teaches', () => {
  test('is stored in one generation, facts and rules together', async () => {
    const session = await openSession();
    const learned = await learn(session, ['p(a)', '-q(a)'], ['r(?x) :- p(?x)', 's(?x) :- r(?x)']);
    expect(learned).toEqual({ asserted: 2, unchanged: 0, generation: 1, note: null, firstTurn: null });
    expect(await session.results('s(?x)')).toEqual(['s(a)']);
    expect((await session.list()).facts).toMatchObject([
      { metadata: { source: 'text' } },
      { metadata: { source: 'text' }, truthVal: false },
    ]);
  });

  test('is not stored at all if one of its rules is invalid', async () => {
    const session = await openSession();
    await session.teach('b(?x) :- p(?x), not a(?x)');
    const refused = await refusal(learn(session, ['p(a)'], ['c(?x) :- p(?x)', 'a(?x) :- p(?x), not b(?x)']));
    expect(refused.code).toBe('RuleException');
    expect((await session.list()).total).toBe(0);
    expect(await session.engine.rules(session.caller)).toHaveLength(1);
  });

  test('keeps metadata and validity of stored facts, and counts as a use of them', async () => {
    const session = await openSession();
    const { id } = await session.tell('p(a)', { metadata: { pinned: true }, ttl: day });
    expect(await learn(session, ['p(a)', 'p(b)', 'p(b)'])).toMatchObject({
      asserted: 1,
      unchanged: 1,
      generation: 2,
    });
    const fact = await session.engine.fact(session.caller, id);
    expect(fact).toMatchObject({ metadata: { pinned: true }, validUntil: session.clock.now() + day });
    expect(fact.salienceBreakdown.uses).toBe(2);
    expect(await learn(session, ['p(a)'])).toMatchObject({ asserted: 0, unchanged: 1, generation: 2 });
  });

  test('is a new fact if the stored one has expired', async () => {
    const session = await openSession();
    await session.tell('p(a)', { metadata: { pinned: true }, ttl: 1000 });
    session.clock.advance(1000);
    expect(await learn(session, ['p(a)'])).toMatchObject({ asserted: 1 });
    expect((await session.list()).facts).toMatchObject([{ metadata: { source: 'text' }, validUntil: null }]);
  });

  test('may be a hundred thousand facts', async () => {
    const session = await openSession();
    await session.tell('n(5)', { metadata: { kept: true } });
    const atoms = Array.from({ length: 100_000 }, (_, at) => `n(${at})`);
    expect(await learn(session, atoms)).toMatchObject({ asserted: 99_999, unchanged: 1, generation: 2 });
    expect((await session.list({ q: 'n(5)' })).facts).toMatchObject([{ metadata: { kept: true } }]);
  });

  test('is recognized by its idempotency key after a restart, with its note, and stored once', async () => {
    const storageDir = await mkdtemp(join(tmpdir(), 'corollary-learn-'));
    onTestFinished(() => rm(storageDir, { recursive: true, force: true }));
    const keyed = (session: Session) => session.as({ idempotency: { key: 'k', fingerprint: 'f' } });
    const session = await openSession({ storageDir });
    expect(session.engine.learned(keyed(session).caller)).toBeNull();
    const learned = await learn(keyed(session), ['p(a)', 'p(b)'], [], { note: () => '{"n": 1}' });
    expect(learned).toMatchObject({ asserted: 2, note: '{"n": 1}' });
    await session.engine.close();
    const later = await openSession({ storageDir });
    expect(later.engine.learned(keyed(later).caller)).toEqual(learned);
    expect(later.engine.learned(later.caller)).toBeNull();
    await later.forget('p(a)');
    expect(await learn(keyed(later), ['p(a)', 'p(b)'], [], { note: () => 'other' })).toEqual(learned);
    expect((await later.list()).total).toBe(1);
    expect(later.engine.learned(keyed(later).as({ credential: 'another' }).caller)).toBeNull();
  });
});

test('reports each rule that cannot be taught with its reason, given the valid ones before it', async () => {
  const session = await openSession();
  await session.teach('b(?x) :- p(?x), not a(?x)');
  const rules = [
    'c(?x) :- p(?x)',
    'c(?y) :- p(?x)',
    'a(?x) :- p(?x), not b(?x)',
    'd(?x) :- c(?x), not e(?x)',
    'e(?x) :- d(?x)',
  ];
  const refusals = await session.engine.ruleRefusals(
    session.caller,
    rules.map((text) => ruleInput({ text })),
  );
  expect(refusals.map((reason) => reason !== null)).toEqual([false, true, true, false, true]);
  expect(await session.engine.rules(session.caller)).toHaveLength(1);
});

describe('the vocabulary', () => {
  test('names relations by truth value, most facts first, with rules and an example', async () => {
    const session = await openSession();
    await session.tellAll(['q(a)', 'p(b)', 'p(a)', '-p(c)', 'p(a, b)']);
    await session.teach('r(?x) :- p(?x)');
    await session.teach('p(?x) :- q(?x)');
    expect(await session.engine.vocabulary(session.caller, view)).toEqual([
      { predicate: 'p', arity: 1, negated: false, facts: 2, rules: 1, example: 'p(b)' },
      { predicate: 'p', arity: 1, negated: true, facts: 1, rules: 0, example: '-p(c)' },
      { predicate: 'p', arity: 2, negated: false, facts: 1, rules: 0, example: 'p(a, b)' },
      { predicate: 'q', arity: 1, negated: false, facts: 1, rules: 0, example: 'q(a)' },
      { predicate: 'r', arity: 1, negated: false, facts: 0, rules: 1, example: null },
    ]);
  });

  test('is that of the view, without disabled rules and invisible facts', async () => {
    const session = await openSession();
    await session.tell('p(a)');
    await session.tell('p(b)', { scope: 's' });
    await session.tell('q(a)', { ttl: 1000 });
    await session.teach('r(?x) :- p(?x)', { scope: 's' });
    await session.teach('t(?x) :- p(?x)', { enabled: false });
    session.clock.advance(1000);
    const names = async (choice: { scope?: string; unscoped?: boolean }) =>
      (await session.engine.vocabulary(session.caller, { ...view, ...choice })).map(
        ({ predicate, facts }) => `${predicate} ${facts}`,
      );
    expect(await names({})).toEqual(['p 2', 'r 0']);
    expect(await names({ scope: 's' })).toEqual(['p 1', 'r 0']);
    expect(await names({ unscoped: true })).toEqual(['p 1']);
    expect(await names({ scope: 'none' })).toEqual([]);
  });
});

describe('the topic of a text', () => {
  const about = async ({ engine, caller }: Session, text: string, maxFacts = 100, choice: object = {}) =>
    (await engine.factsAbout(caller, { ...view, text, maxFacts, ...choice })).map((entry) =>
      renderAtom(entry),
    );

  test('includes facts with the constants that it names, then those of the predicates', async () => {
    const session = await openSession();
    await session.tellAll(['lives_in(ann, new_york)', 'colour(sky, blue)', 'age(ben, 30)', 'other(x)']);
    expect(await about(session, 'What COLOUR has New York? 30.')).toEqual([
      'age(ben, 30)',
      'lives_in(ann, new_york)',
      'colour(sky, blue)',
    ]);
    expect(await about(session, 'Nothing of it.')).toEqual([]);
    expect(await session.engine.constantsIn(session.caller, 'ANN, 30, sky_blue')).toEqual(['30', 'ann']);
  });

  test('is ordered by salience, then by atom, from the view only, up to the limit', async () => {
    const session = await openSession();
    await session.tellAll(['n(c, 2)', 'n(c, 1)', 'n(c, 3)']);
    await session.tell('n(c, 0)', { scope: 's' });
    await session.tell('n(c, 9)', { metadata: { importance: 0.1 } });
    expect(await about(session, 'c')).toEqual(['n(c, 0)', 'n(c, 1)', 'n(c, 2)', 'n(c, 3)', 'n(c, 9)']);
    expect(await about(session, 'c', 2, { unscoped: true })).toEqual(['n(c, 1)', 'n(c, 2)']);
    expect(await about(session, 'c', 2, { scope: 's' })).toEqual(['n(c, 0)']);
  });

  test('does not count as a use of the facts', async () => {
    const session = await openSession();
    const { id } = await session.tell('p(a)');
    await about(session, 'a');
    expect((await session.engine.fact(session.caller, id)).salienceBreakdown.uses).toBe(1);
  });

  test('equals the result of sorting all facts, however many', async () => {
    const prng = new Prng(7);
    const session = await openSession();
    for (let write = 0; write < 6; write++) {
      const atoms = Array.from({ length: 1500 }, () => `n(c${prng.below(40)}, v${prng.below(100_000)})`);
      await session.tellAll(atoms, { metadata: { importance: prng.below(10) / 10 } });
      session.clock.advance(day);
    }
    const text = 'c3 and c7, or c30';
    const all = await about(session, text, 100_000);
    expect(all.length).toBeGreaterThan(500);
    expect(all.every((atom) => /\(c(3|7|30),/.test(atom))).toBe(true);
    for (const most of [1, 10, 500]) expect(await about(session, text, most)).toEqual(all.slice(0, most));
  });

  test('is empty for an unknown tenant', async () => {
    const session = await openSession();
    expect(await about(session.as({ tenant: 'nobody' }), 'a')).toEqual([]);
    expect(await session.engine.vocabulary(session.as({ tenant: 'nobody' }).caller, view)).toEqual([]);
  });
});
