import { expect, test } from 'vitest';
import { FactStore } from '../../store/fact-store.ts';
import { parseBody } from '../../language/parse.ts';
import { MemoryBudget } from '../model/memory-budget.ts';
import { Program } from '../model/program.ts';
import { Pacer } from '../tables/evaluation.ts';
import { matchesOf, question } from '../tables/question.ts';
import { TableSet } from '../tables/table-set.ts';

/** More than a scan passes in one step. */
const count = 40_000;

function manyFacts(): FactStore {
  const facts = new FactStore(0);
  const always = { validFrom: 'always', validUntil: 'never' } as const;
  const rest = { predicate: 'is', truthVal: true, scope: null, ...always };
  for (let at = 0; at < count; at++)
    facts.store({ ...rest, args: [`n${at}`, at % 30_000 === 7 ? 'rare' : `kind${at % 3}`] }, at + 1, 0);
  return facts;
}

async function answers(facts: FactStore, text: string, generation: number): Promise<string[]> {
  const set = new TableSet(facts, new Program([]), { withHeights: false, isMaintained: true }, new Map());
  const { signal } = new AbortController();
  const memory = new MemoryBudget(2 ** 30);
  const pacer = new Pacer({ timeoutMs: 600_000, maxDerivations: 1e9, signal, memory }, () =>
    Promise.resolve(),
  );
  const reader = { facts, generation, time: 0, overlay: null };
  const asked = question({ kind: 'all' }, parseBody(text));
  const { columns, count: found, constants } = await matchesOf(asked, set, reader, pacer);
  return Array.from({ length: found }, (_, row) =>
    columns.map((column) => constants.text(column[row] as number)).join(' '),
  ).sort();
}

test('a key finds the same rows by a scan in steps as by an index, of those that the reader sees', async () => {
  const facts = manyFacts();
  const relation = facts.relation('is', 2, false);
  const looked: string[][] = [];
  for (const generation of [count, 30_000, count, 30_000, count, 30_000])
    looked.push(await answers(facts, 'is(?x, rare), ?x != n7', generation));
  // Asked for last, since that makes it: the fifth look-up has built it.
  expect(relation?.indexToBuild([1]).rows).toBe(count);
  for (const [at, found] of looked.entries()) expect(found).toEqual(at % 2 === 0 ? ['n30007'] : []);
});
