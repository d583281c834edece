import { expect, test } from 'vitest';
import { chainOf, factInput, openSession, refusal, type Session } from '../testing/engine-fixtures.ts';

/** Limits of a question, which affect nothing else: contract sections 1 and 5. */

/** An engine whose question `reach(?x, ?y)` has `size * (size + 1) / 2` answers. */
async function closure(size: number, options = {}): Promise<Session> {
  const session = await openSession(options);
  await session.tellAll(chainOf(size));
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  return session;
}

test('refuses a question beyond timeoutMs, with the limit and the time', async () => {
  const { ask } = await closure(500);
  const refused = await refusal(ask('reach(?x, ?y)', { timeoutMs: 1 }));
  expect(refused.code).toBe('InferenceLimitExceeded');
  expect(refused.status).toBe(422);
  expect(refused.members['limit']).toBe('timeoutMs');
  expect(refused.members['elapsedMs']).toBeGreaterThanOrEqual(1);
});

test('refuses a question beyond maxDerivations, however small that is', async () => {
  const { ask } = await closure(60);
  for (const maxDerivations of [1, 10, 100, 1000]) {
    const refused = await refusal(ask('reach(?x, ?y)', { maxDerivations }));
    expect(refused.code).toBe('InferenceLimitExceeded');
    expect(refused.members['limit']).toBe('maxDerivations');
  }
  expect((await ask('reach(?x, ?y)', { maxDerivations: 100_000 })).count).toBe(1830);
});

test('applies maxDerivations to a question with one answer too', async () => {
  const { ask, results } = await closure(60);
  const refused = await refusal(ask('reach(n0, n60)', { maxDerivations: 10 }));
  expect(refused.members['limit']).toBe('maxDerivations');
  expect(await results('reach(n0, n60)')).toHaveLength(1);
});

test('does not refuse a small question for unneeded work', async () => {
  const { ask } = await closure(500);
  expect((await ask('reach(n499, ?x)', { maxDerivations: 100, timeoutMs: 10_000 })).count).toBe(1);
  expect((await ask('edge(?x, ?y)', { limit: 1 })).count).toBe(1);
});

test('refuses a question that builds constants without end, and blocks nothing else', async () => {
  const { teach, tell, ask, results, query } = await openSession();
  await teach('n(?y) :- n(?x), ?y = ?x + 1');
  await teach('even(?x) :- n(?x), 0 = ?x mod 2');
  await tell('n(0)');
  const endless = refusal(ask('n(?x)', { maxDerivations: 200_000 }));
  expect((await tell('p(a)')).status).toBe('asserted');
  expect(await results('p(?x)')).toEqual(['p(a)']);
  expect(await query('n(?x)')).toHaveLength(1);
  expect((await endless).members['limit']).toBe('maxDerivations');
  expect((await refusal(ask('even(?x)', { timeoutMs: 100 }))).members['limit']).toBe('timeoutMs');
});

test('accepts a refused question again with other limits', async () => {
  const { ask } = await closure(200);
  await refusal(ask('reach(?x, ?y)', { maxDerivations: 50 }));
  expect((await ask('reach(?x, ?y)')).count).toBe(20_100);
  expect((await ask('reach(?x, ?y)', { maxDerivations: 50 })).count).toBe(20_100);
});

test('leaves facts, rules, generation and other questions unaffected by a refused question', async () => {
  const { ask, results, tell, list, engine, caller } = await closure(200);
  expect(await results('reach(n198, ?x)')).toHaveLength(2);
  const before = JSON.stringify([
    await list({ limit: '1000' }),
    (await engine.rules(caller)).map(({ id }) => id),
  ]);
  await refusal(ask('reach(?x, ?y)', { maxDerivations: 50 }));
  expect(
    JSON.stringify([await list({ limit: '1000' }), (await engine.rules(caller)).map(({ id }) => id)]),
  ).toBe(before);
  expect(await results('reach(n198, ?x)')).toHaveLength(2);
  expect((await tell('p(a)')).generation).toBe(4);
});

test('refuses a question beyond the memory budget, and memory falls back', async () => {
  const { ask, results } = await closure(600, { memoryBudgetBytes: 1_000_000 });
  for (let round = 0; round < 3; round++) {
    const refused = await refusal(ask('reach(?x, ?y)'));
    expect(refused.members['limit']).toBe('memory');
    expect(refused.code).toBe('InferenceLimitExceeded');
    expect(await results('reach(n595, ?x)')).toHaveLength(5);
  }
});

test('refuses a question beyond its own memory, whatever step it grows by, and answers the next', async () => {
  const { ask, results } = await closure(600, {
    memoryBudgetBytes: 1_000_000_000,
    questionMemoryBytes: 1_000_000,
  });
  for (let round = 0; round < 3; round++) {
    const refused = await refusal(ask('reach(?x, ?y)'));
    expect(refused.code).toBe('InferenceLimitExceeded');
    expect(refused.members['limit']).toBe('memory');
    expect(refused.members['elapsedMs']).toBeGreaterThanOrEqual(0);
    expect(refused.message).toMatch(/1000000 bytes that one question may take.+QUESTION_MEMORY_BYTES/);
    expect(await results('reach(n595, ?x)')).toHaveLength(5);
  }
});

test('counts the rows of an answer, and what orders them, in the memory of a question', async () => {
  const { engine, caller, ask } = await openSession({
    memoryBudgetBytes: 1_000_000_000,
    questionMemoryBytes: 1_000_000,
  });
  const facts = Array.from({ length: 20_000 }, (_, at) => ({ ...factInput('p(a)'), args: [`n${at}`] }));
  await engine.tellAll(caller, facts);
  expect((await refusal(ask('p(?x)'))).members['limit']).toBe('memory');
  expect((await ask('p(?x)', { limit: 100 })).count).toBe(100);
});

test('gives each question a quarter of the memory budget by default', async () => {
  const { ask } = await closure(600, { memoryBudgetBytes: 4_000_000 });
  expect((await refusal(ask('reach(?x, ?y)'))).message).toMatch(/the 1000000 bytes/);
});

test('evicts tables of earlier questions before it refuses a question for memory', async () => {
  const { ask, teach, tellAll } = await closure(300, {
    memoryBudgetBytes: 4_000_000,
    questionMemoryBytes: 16_000_000,
  });
  const names = ['a', 'b', 'c', 'd'];
  for (const name of names) {
    await tellAll(chainOf(300, `edge_${name}`));
    await teach(`reach_${name}(?x, ?y) :- edge_${name}(?x, ?y)`);
    await teach(`reach_${name}(?x, ?z) :- reach_${name}(?x, ?y), edge_${name}(?y, ?z)`);
  }
  for (let round = 0; round < 2; round++)
    for (const name of names) expect((await ask(`reach_${name}(?x, ?y)`)).count, name).toBe(45_150);
});

test('does not count stored facts in the memory budget', async () => {
  const { engine, caller, query, results } = await openSession({
    memoryBudgetBytes: 100_000,
    // The answers do count.
    questionMemoryBytes: 10_000_000,
  });
  const facts = Array.from({ length: 20_000 }, (_, at) => ({ ...factInput('p(a)'), args: [`n${at}`] }));
  await engine.tellAll(caller, facts);
  expect(await query('p(?x)')).toHaveLength(20_000);
  expect(await results('p(n7)')).toEqual(['p(n7)']);
});

test('applies the limits to a proof too', async () => {
  const { ask } = await closure(400);
  await ask('reach(?x, ?y)', { limit: 1 });
  const refused = await refusal(ask('reach(?x, ?y)', { withProof: true, timeoutMs: 2 }));
  expect(refused.members['limit']).toBe('timeoutMs');
});
