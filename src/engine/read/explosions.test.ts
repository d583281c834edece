import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { askInput, chainOf, gate, openSession, refusal, type Session } from '../testing/engine-fixtures.ts';

/**
 * Programs that explode: every question about them ends with an error that names the limit, frees its memory, and
 * blocks nothing else (contract sections 1 and 5).
 */

interface Explosive {
  readonly rules: readonly string[];
  readonly facts: readonly string[];
  readonly question: string;
}

const hundred = Array.from({ length: 100 }, (_, at) => String(at));
const numbers = hundred.map((each) => `b(${each})`);
const variables = (count: number): string => Array.from({ length: count }, (_, at) => `?x${at}`).join(', ');
const product = (count: number): string => Array.from({ length: count }, (_, at) => `b(?x${at})`).join(', ');

const explosive: Record<string, Explosive> = {
  'a cross product': {
    rules: [`p(${variables(6)}) :- ${product(6)}`],
    facts: numbers,
    question: `p(${variables(6)})`,
  },
  'a cross product of which nothing is left': {
    // All of them are needed to the end: a join makes no product of unused values.
    rules: [`q(${variables(5)}) :- ${product(5)}, ?s = ?x0 + ?x4, ?s < 0`],
    facts: numbers,
    question: `q(${variables(5)})`,
  },
  'a cross product asked as a question': { rules: [], facts: numbers, question: product(6) },
  'counting without end': {
    rules: ['n(?y) :- n(?x), ?y = ?x + 1'],
    facts: ['n(0)'],
    question: 'n(?x)',
  },
  'two relations that count on each other': {
    rules: [
      'even(?y) :- odd(?x), ?y = ?x + 1',
      'odd(?y) :- even(?x), ?y = ?x + 1',
      'odd(?y) :- even(?x), ?y = ?x * 3',
    ],
    facts: ['even(0)'],
    question: 'odd(?x)',
  },
  'numbers that grow in two ways': {
    rules: ['n(?z) :- n(?x), n(?y), ?z = ?x + ?y', 'n(?z) :- n(?x), n(?y), ?z = ?x - ?y'],
    facts: ['n(1)', 'n(7)'],
    question: 'n(-1000000007)',
  },
  'squares of squares': {
    rules: ['s(?y, ?k) :- s(?x, ?i), ?y = ?x * ?x, ?k = ?i + 1', 's(?x, ?k) :- s(?x, ?i), ?k = ?i + 1'],
    facts: ['s(3, 0)'],
    question: 's(?x, ?k)',
  },
  'an aggregate over a huge group': {
    rules: [`total(?n) :- ?n = count { ${variables(5)} : ${product(5)} }`],
    facts: numbers,
    question: 'total(?n)',
  },
  'an aggregate for each of very many groups': {
    rules: [`sum(?x0, ?x1, ?x2, ?s) :- ${product(3)}, ?s = sum { ?y, ?z : b(?y), b(?z), ?y < ?x0 }`],
    facts: numbers,
    question: 'sum(?a, ?b, ?c, ?s)',
  },
  'a tower of not': {
    rules: Array.from(
      { length: 5 },
      (_, at) => `t${at + 1}(${variables(at + 1)}) :- ${product(at + 1)}, not t${at}(${variables(at)})`,
    ),
    facts: [...numbers, 't0()'],
    question: `t5(${variables(5)})`,
  },
  'arguments in every order': {
    rules: [
      `p(${variables(9)}) :- start(${variables(9)})`,
      `p(?x1, ?x0, ?x2, ?x3, ?x4, ?x5, ?x6, ?x7, ?x8) :- p(${variables(9)})`,
      `p(?x1, ?x2, ?x3, ?x4, ?x5, ?x6, ?x7, ?x8, ?x0) :- p(${variables(9)})`,
    ],
    facts: ['start(a, b, c, d, e, f, g, h, i)'],
    question: `p(${variables(9)})`,
  },
};

async function load({ rules, facts }: Explosive, options = {}): Promise<Session> {
  const session = await openSession(options);
  for (const rule of rules) await session.teach(rule);
  await session.tellAll([...facts, 'small(a)', 'small(b)']);
  await session.teach('tiny(?x) :- small(?x), not big(?x)');
  return session;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of cached tables. */
async function heldBytes(): Promise<number> {
  // The memory of an ended question is free only after its last turns.
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collectGarbage();
  }
  return process.memoryUsage().arrayBuffers;
}

const slackBytes = 1_500_000;

describe.each(Object.entries(explosive))('%s', (_, program) => {
  test('is refused at each of the limits, and frees its memory', async () => {
    const { ask, results } = await load(program, { memoryBudgetBytes: 3_000_000 });
    expect(await results('tiny(?x)')).toEqual(['tiny(a)', 'tiny(b)']);
    const before = await heldBytes();
    for (const limits of [{ maxDerivations: 10_000, timeoutMs: 300 }, { timeoutMs: 50 }]) {
      const refused = await refusal(ask(program.question, limits));
      expect([refused.code, refused.status]).toEqual(['InferenceLimitExceeded', 422]);
      expect([...Object.keys(limits), 'memory']).toContain(refused.members['limit']);
      expect(refused.members['elapsedMs']).toBeGreaterThanOrEqual(0);
    }
    const refused = await refusal(ask(program.question, { timeoutMs: 600, maxDerivations: 1_000_000 }));
    expect(refused.code).toBe('InferenceLimitExceeded');
    expect(refused.members['elapsedMs']).toBeGreaterThanOrEqual(0);
    expect(await heldBytes()).toBeLessThan(before + slackBytes);
    expect(await results('tiny(?x)')).toEqual(['tiny(a)', 'tiny(b)']);
  });

  test('blocks no write, no other question and no shutdown', async () => {
    const { pause, hold, release } = gate();
    // A retraction waits, by the clock, for tables that a question uses: here each check of them takes long.
    let ahead = 0;
    const now = performance.now.bind(performance);
    const time = vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
    onTestFinished(() => {
      time.mockRestore();
    });
    let isHeld = false;
    const { engine, caller, results, tell, forget, query } = await load(program, {
      pause: () => {
        if (isHeld) ahead += 100;
        return pause();
      },
    });
    const client = new AbortController();
    const held = hold();
    const asked = engine.ask(
      { ...caller, signal: client.signal },
      askInput(program.question, { withProof: true }),
    );
    const ended = asked.then(
      () => 'answered',
      (error: Error) => error.message,
    );
    await held;
    isHeld = true;
    expect((await tell('small(c)')).status).toBe('asserted');
    expect(await results('tiny(?x)')).toEqual(['tiny(a)', 'tiny(b)', 'tiny(c)']);
    expect((await forget('small(c)')).dependents).toEqual(['tiny(c)']);
    expect(await query('small(?x)')).toHaveLength(2);
    isHeld = false;
    client.abort();
    release();
    expect(await ended).toMatch(/gone|needed more|met an integer/);
    expect(await results('tiny(?x)')).toEqual(['tiny(a)', 'tiny(b)']);
  });
});

test('counts the answers of a body question in the memory budget', async () => {
  const { ask, results } = await load(explosive['a cross product asked as a question'] as Explosive, {
    memoryBudgetBytes: 3_000_000,
  });
  for (const question of [
    product(6),
    `${product(5)}, not big(?x0)`,
    `${product(4)}, ?n = count { ?y : small(?y) }`,
  ])
    for (const withProof of [false, true]) {
      const refused = await refusal(ask(question, { withProof }));
      expect(refused.members['limit'], question).toBe('memory');
    }
  expect(await results('tiny(?x)')).toHaveLength(2);
});

test('counts the derivations that a proof examines in the budgets', async () => {
  const { ask, teach } = await load(explosive['a cross product asked as a question'] as Explosive, {
    memoryBudgetBytes: 3_000_000,
  });
  await teach(`p(?x0) :- b(?x0), small(?s), ${['a', 'b', 'c', 'd'].map((each) => `b(?${each})`).join(', ')}`);
  const refused = await refusal(ask('p(7)', { withProof: true }));
  expect(refused.code).toBe('InferenceLimitExceeded');
  expect(['memory', 'maxDerivations']).toContain(refused.members['limit']);
});

test('ends the dependents of a fact under an explosive program at their own limit', async () => {
  const { forget, results, tell } = await load(explosive['counting without end'] as Explosive);
  await tell('n(5)');
  const outcome = await forget('n(5)', { dependents: 'all', timeoutMs: 50 });
  expect(outcome).toMatchObject({ status: 'retracted', dependentsComplete: false });
  expect(await results('tiny(?x)')).toEqual(['tiny(a)', 'tiny(b)']);
});

test('refuses all explosive questions of many concurrent clients, and memory falls back', async () => {
  const { ask, results } = await load(explosive['a cross product'] as Explosive, {
    memoryBudgetBytes: 2_000_000,
  });
  const before = await heldBytes();
  const asked = Array.from({ length: 8 }, (_, at) =>
    refusal(ask(`p(${variables(6)}), b(?y), ?y > ${at}`, { timeoutMs: 5000, maxDerivations: 2_000_000 })),
  );
  expect(await results('tiny(?x)')).toEqual(['tiny(a)', 'tiny(b)']);
  for (const refused of await Promise.all(asked)) expect(refused.code).toBe('InferenceLimitExceeded');
  expect(await heldBytes()).toBeLessThan(before + slackBytes);
});

test('shares the memory budget between all tenants: unused tables are evicted', async () => {
  const { teach, as } = await openSession({
    memoryBudgetBytes: 6_000_000,
    questionMemoryBytes: 16_000_000,
  });
  await teach('reach(?x, ?y) :- edge(?x, ?y)');
  await teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  const tenants = Array.from({ length: 6 }, (_, at) => as({ tenant: `tenant${at}` }));
  for (const tenant of tenants) await tenant.tellAll(chainOf(300));
  const before = await heldBytes();
  for (let round = 0; round < 2; round++)
    for (const tenant of tenants) expect((await tenant.ask('reach(?x, ?y)')).count).toBe(45_150);
  expect((await heldBytes()) - before).toBeLessThan(6_000_000 + slackBytes);
});
