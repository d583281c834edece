import { expect, test } from 'vitest';
import { FactStore } from '../store/fact-store.ts';
import { askedKey, AnswerCache, type WrittenAnswer } from './caches.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program } from '../datalog/model/program.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import { openSession, patternInput, second } from '../testing/engine-fixtures.ts';

function reasonerOfNothing(): Reasoner {
  return new Reasoner(
    new FactStore(0),
    new Program([]),
    new Map(),
    () => Promise.resolve(),
    new MemoryBudget(1e9),
  );
}

function answerOf(rows: number): WrittenAnswer {
  const results = Array.from({ length: rows }, (_, row) => `p(${row})`);
  return { results, bindings: results.map(() => ({})), count: rows, truncated: false, total: rows };
}

const unused = new Set<never>();

test('finds an answer for its own state, and not after a change', () => {
  const kept = new AnswerCache(1e6);
  const reasoner = reasonerOfNothing();
  const answer = answerOf(2);
  kept.keep(reasoner, reasoner.reader(1, 1), 'k', answer, unused);
  expect(kept.find(reasoner, reasoner.reader(2, 2), 'k')).toMatchObject({ answer, used: [] });
  expect(kept.find(reasoner, reasoner.reader(2, 2), 'other')).toBeNull();
  expect(kept.find(reasonerOfNothing(), reasoner.reader(2, 2), 'k')).toBeNull();
  reasoner.touched([], 3);
  expect(kept.find(reasoner, reasoner.reader(3, 3), 'k')).toBeNull();
});

test('caches no answer of a past state, and no long answer', () => {
  const kept = new AnswerCache(1e6);
  const reasoner = reasonerOfNothing();
  const before = reasoner.reader(1, 1);
  reasoner.touched([], 2);
  kept.keep(reasoner, before, 'k', answerOf(1), unused);
  kept.keep(reasoner, reasoner.reader(2, 2), 'k', answerOf(101), unused);
  expect(kept.bytes).toBe(0);
});

test('keeps answers within their budget and evicts the least recently used', () => {
  const kept = new AnswerCache(20_000);
  const [one, other] = [reasonerOfNothing(), reasonerOfNothing()];
  const keep = (reasoner: Reasoner, key: string): void =>
    kept.keep(reasoner, reasoner.reader(1, 1), key, answerOf(1), unused);
  const has = (reasoner: Reasoner, key: string): boolean =>
    kept.find(reasoner, reasoner.reader(1, 1), key) !== null;
  keep(one, 'first');
  for (let key = 0; key < 100; key++) {
    keep(other, `${key}`);
    expect(has(one, 'first')).toBe(true);
    expect(kept.bytes).toBeLessThanOrEqual(20_000);
  }
  expect([has(other, '0'), has(other, '99')]).toEqual([false, true]);
});

test('includes in the key everything that the answer depends on', () => {
  const plain = patternInput('p(a, ?x)');
  const changes = [
    { predicate: 'q' },
    { args: ['?x', 'a'] },
    { negated: true },
    { scope: 's' },
    { unscoped: true },
    { withProof: true },
    { allProofs: true },
    { limit: 1 },
    { offset: 1 },
    { text: 'p(a, ?x)' },
    { body: [] },
  ];
  const keys = [{}, ...changes].map((change) => askedKey({ ...plain, ...change }));
  expect(new Set(keys).size).toBe(keys.length);
  // Fields that only limit the work do not affect the answer.
  expect(askedKey({ ...plain, timeoutMs: 1, maxDerivations: 1 })).toBe(askedKey(plain));
});

test('counts a use of stored facts for each repeated question, and hides expired ones', async () => {
  const { ask, tell, teach, engine, caller, clock } = await openSession();
  const { id } = await tell('p(a)', { ttl: 10 * second });
  await teach('q(?x) :- p(?x)');
  for (let asked = 0; asked < 3; asked++)
    expect((await ask('q(?x)', { withProof: true })).results).toEqual(['q(a)']);
  expect((await engine.fact(caller, id)).salienceBreakdown.uses).toBe(4);
  clock.advance(10 * second);
  expect(await ask('q(?x)', { withProof: true })).toMatchObject({ results: [], count: 0 });
});
