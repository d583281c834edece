import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from '../testing/prng.ts';
import type { Answer } from '../contract/inference.ts';
import { openEngine } from '../open-engine.ts';
import { type Session, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { overSeeds } from '../testing/twin.ts';

/**
 * The same questions again and again between changes of every kind, to an engine with an answer cache and to one whose
 * memory is too small for one: both answer alike and count the same uses.
 */
const rules = [
  'q(?x) :- p(?x, ?y)',
  'r(?x, ?z) :- p(?x, ?y), p(?y, ?z)',
  'lonely(?x) :- q(?x), not r(?x, ?_)',
  'many(?x, ?n) :- q(?x), ?n = count { ?y : p(?x, ?y) }',
];
const questions = ['p(?x, ?y)', 'p(a, ?y)', 'q(?x)', 'r(a, ?z)', 'r(?x, ?z)', 'lonely(?x)', 'many(?x, ?n)'];
const constants = ['a', 'b', 'c'];

/**
 * The least memory for such small tables. An answer may use a thousandth of it, which is less than any answer needs.
 */
const tooLittle = 256 * 1024;

function told({ elapsedMs: _elapsed, ...answer }: Answer): Omit<Answer, 'elapsedMs'> {
  return answer;
}

async function play(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const sessions: Session[] = [];
  for (const memoryBudgetBytes of [64 * 1024 * 1024, tooLittle]) {
    const clock = new ManualClock(startTime);
    const engine = await openEngine({ storageDir: null, clock, memoryBudgetBytes });
    sessions.push(sessionOf(engine, clock, testCaller()));
  }
  const taught = new Map<string, string>();
  const both = async <Result>(act: (session: Session) => Promise<Result>): Promise<Result[]> => {
    const results: Result[] = [];
    for (const session of sessions) results.push(await act(session));
    return results;
  };
  const change = async (): Promise<void> => {
    const fact = `p(${prng.pick(constants)}, ${prng.pick(constants)})`;
    const scope = prng.chance(0.2) ? { scope: 's' } : {};
    const rule = prng.pick(rules);
    const id = taught.get(rule);
    switch (prng.below(6)) {
      case 0:
      case 1: {
        const fields = {
          ...scope,
          ...prng.pick([{}, {}, { ttl: 5000 }, { metadata: { source: `${prng.below(9)}` } }]),
        };
        await both((session) => session.tell(fact, fields));
        break;
      }
      case 2:
        await both((session) => session.forget(fact));
        break;
      case 3: {
        const ms = 1000 * (1 + prng.below(6));
        await both(async ({ clock }) => clock.advance(ms));
        break;
      }
      case 4:
        // Of another tenant: it changes the generation, but nothing else in this tenant's answers.
        await both((session) => session.as({ tenant: 'other' }).tell(fact));
        break;
      default:
        if (id === undefined) {
          const [outcome] = await both((session) => session.teach(rule));
          taught.set(rule, outcome?.id ?? '');
        } else {
          taught.delete(rule);
          await both(({ engine, caller }) => engine.forgetRule(caller, id));
        }
    }
  };
  try {
    for (let step = 0; step < 60; step++) {
      await change();
      for (let asked = 0; asked < 4; asked++) {
        const question = prng.pick(questions);
        const fields = prng.pick([{}, { withProof: true }, { limit: 1 }, { scope: 's' }, { unscoped: true }]);
        const [kept, plain] = await both(async (session) => told(await session.ask(question, fields)));
        expect(kept, `${question} ${JSON.stringify(fields)} in step ${step}`).toEqual(plain);
      }
      const [kept, plain] = await both((session) => session.list({ sort: 'salience', order: 'desc' }));
      expect(kept?.facts.map(({ id, salience }) => [id, salience])).toEqual(
        plain?.facts.map(({ id, salience }) => [id, salience]),
      );
    }
  } finally {
    await both(({ engine }) => engine.close());
  }
}

test('answers a repeated question as if it were asked for the first time', { timeout: 600_000 }, () =>
  overSeeds({ name: 'asked again', few: 7, many: 1000 }, play),
);
