import { expect, test } from 'vitest';
import { searchInputSchema } from '../contract/search.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { FactStore } from '../store/fact-store.ts';
import { openSession } from '../testing/engine-fixtures.ts';
import { IndexAtStart } from './index-at-start.ts';
import { WordIndex } from './word-index.ts';

/** The index of words is made after the start, in the background: contract section 13. */

function storeOf(count: number): FactStore {
  const facts = new FactStore(0);
  for (let at = 0; at < count; at++)
    facts.store({ predicate: 'p', args: [`some name ${at}`], truthVal: true, scope: null }, 1, 1);
  return facts;
}

/** The breaths that a search needs before it can begin. */
async function breathsBefore(facts: FactStore): Promise<number> {
  let breaths = 0;
  await WordIndex.using(
    facts,
    async () => void breaths++,
    async () => {},
  );
  return breaths;
}

/** What is built, with the pauses and waits of the work. */
function building(facts: readonly FactStore[], more: { quietForMs?: () => number; limit?: number } = {}) {
  const seen = { pauses: 0, waits: [] as number[] };
  const memory = new MemoryBudget(more.limit ?? 2 ** 30);
  const index = new IndexAtStart({
    stores: () => facts,
    memory,
    pause: async () => void seen.pauses++,
    quietForMs: more.quietForMs ?? (() => 1000),
    wait: async (ms) => void seen.waits.push(ms),
    onBug: (error) => {
      throw error;
    },
  });
  return { index, memory, seen };
}

test('the first search finds the index made', async () => {
  const facts = storeOf(5000);
  const { index, memory } = building([facts]);
  await index.done;
  expect(memory.heldBytes).toBeGreaterThan(100_000);
  expect(await breathsBefore(facts)).toBe(0);
  expect(await breathsBefore(storeOf(5000))).toBeGreaterThan(10);
});

test('it waits while anything is asked or written', async () => {
  const quiet = [0, 100, 299, 300];
  const { index, seen } = building([storeOf(1000)], { quietForMs: () => quiet.shift() ?? 300 });
  await index.done;
  expect(seen.waits.slice(0, 4)).toEqual([300, 300, 200, 1]);
});

test('an index that exceeds the memory is dropped again, and few constants need none', async () => {
  const [large, small] = [storeOf(5000), storeOf(10)];
  const { index, memory } = building([small, large], { limit: 50_000 });
  await index.done;
  expect(memory.heldBytes).toBe(0);
  expect(await breathsBefore(large)).toBeGreaterThan(10);
});

test('a search in the middle of it takes in the rest, and what was told since', async () => {
  const session = await openSession();
  await session.tellAll(Array.from({ length: 2000 }, (_, at) => `knows(person ${at}, thing ${at})`));
  const search = (text: string) =>
    session.engine.search(session.caller, searchInputSchema.parse({ text, kinds: ['fact'] }));
  const wanted = await search('thing 1999');
  const facts = storeOf(4000);
  const { index } = building([facts]);
  const found = await WordIndex.using(
    facts,
    async () => {},
    async (words) => words.named('somename3999'),
  );
  expect(found).toHaveLength(1);
  await index.done;
  facts.store({ predicate: 'p', args: ['a late name'], truthVal: true, scope: null }, 2, 2);
  const late = await WordIndex.using(
    facts,
    async () => {},
    async (words) => words.named('alatename'),
  );
  expect(late).toHaveLength(1);
  expect(wanted.hits[0]).toMatchObject({ atom: 'knows(person 1999, thing 1999)' });
});

test('it ends when the engine closes', async () => {
  const facts = storeOf(5000);
  const { index } = building([facts], { quietForMs: () => 0 });
  await index.close();
  expect(await breathsBefore(facts)).toBeGreaterThan(10);
});
