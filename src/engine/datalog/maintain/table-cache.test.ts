import { expect, test } from 'vitest';
import { FactStore } from '../../store/fact-store.ts';
import { ruleIdentity, renderRule } from '../../language/print.ts';
import { parseAtom, parseRule } from '../../language/parse.ts';
import { MemoryBudget } from '../model/memory-budget.ts';
import { Program } from '../model/program.ts';
import { question } from '../tables/question.ts';
import { type PinnedReader, Reasoner } from './reasoner.ts';

const limits = { timeoutMs: 600_000, maxDerivations: 1e9, signal: new AbortController().signal };

/** Changing facts, and a reasoner with the rule `p(?x) :- q(?x)`. */
function qImpliesP() {
  const facts = new FactStore(0);
  const rule = parseRule('p(?x) :- q(?x)');
  const about = { name: null, description: null, createdAt: 0, scope: null, enabled: true, changedIn: 0 };
  const program = new Program([
    { ...about, id: 'r1', rule, text: renderRule(rule), identity: ruleIdentity(rule) },
  ]);
  const reasoner = new Reasoner(
    facts,
    program,
    new Map(),
    () => Promise.resolve(),
    new MemoryBudget(2 ** 40),
  );
  let generation = 0;
  const tell = (text: string): void => {
    const { predicate, args } = parseAtom(text);
    const { relation, row } = facts.store(
      { predicate, args, truthVal: true, scope: null, validFrom: 'always', validUntil: 'never' },
      ++generation,
      0,
    );
    reasoner.touched([relation.number[row] as number], generation);
  };
  const forget = (text: string): void => {
    const { predicate, args } = parseAtom(text);
    const fact = facts.find(predicate, args, true, null);
    if (fact === null) throw new Error(`${text} is stored`);
    facts.retract(fact, ++generation);
    reasoner.touched([fact.relation.number[fact.row] as number], generation);
  };
  const now = (): PinnedReader => reasoner.reader(generation, 0);
  const count = async (text: string, reader: PinnedReader): Promise<number> => {
    const asked = question({ kind: 'all' }, [{ ...parseAtom(text), naf: false }]);
    const page = { offset: 0, limit: null, withProof: false, withAlternatives: false };
    return (await reasoner.answer(asked, reader, reasoner.pacer(limits), page)).matches.count;
  };
  return { reasoner, tell, forget, now, count };
}

test('removes the rows that a question about an earlier state added with the fact that they rest on', async () => {
  const { reasoner, tell, forget, now, count } = qImpliesP();
  tell('q(a)');
  const earlier = now();
  await reasoner.evaluate(earlier, false, reasoner.pacer(limits), async (set) => {
    expect(set.tables.size, 'a question that needs no table').toBe(0);
    tell('s(b)');
    await Promise.resolve();
  });
  forget('q(a)');
  expect(await count('p(?x)', earlier)).toBe(1);
  expect(await count('p(?x)', now())).toBe(0);
});

test('does not wait for changed facts while nothing is derived', async () => {
  const { reasoner, tell, now } = qImpliesP();
  await reasoner.evaluate(now(), false, reasoner.pacer(limits), async () => {
    tell('s(b)');
    await Promise.resolve();
  });
  tell('s(c)');
  expect([reasoner.isBehind, reasoner.holdsFacts]).toEqual([false, false]);
});
