import { expect, onTestFinished, test, vi } from 'vitest';
import { Slices } from '../base/slices.ts';
import { queryInputSchema } from '../contract/facts.ts';
import { recallInputSchema } from '../contract/memory.ts';
import { Pacer } from '../datalog/tables/evaluation.ts';
import { factInput, openSession, type Session } from '../testing/engine-fixtures.ts';

/** Few long constants are handled in as many slices as many short ones. */

const count = 100;
const characters = 60_000;
/** At most five such constants are handled in one slice. */
const leastPauses = Math.floor(count / 6);

function facts(predicate: string) {
  const one = factInput(`${predicate}(a, b)`);
  return Array.from({ length: count }, (_, at) => ({
    ...one,
    args: [`${at}`.padStart(characters, 'x'), `${at}`],
  }));
}

/** A session with long constants, in which every slice ends at the first look at the clock. */
async function openCounted(): Promise<{
  session: Session;
  pausesOf(work: () => Promise<unknown>): Promise<number>;
}> {
  const ends = [
    vi.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true),
    vi.spyOn(Pacer.prototype, 'isSliceOver', 'get').mockReturnValue(true),
  ];
  onTestFinished(() => {
    for (const each of ends) each.mockRestore();
  });
  let pauses = 0;
  const session = await openSession({
    pause: async () => {
      pauses++;
      await new Promise((resolve) => void setImmediate(resolve));
    },
  });
  const pausesOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = pauses;
    await work();
    return pauses - before;
  };
  await session.engine.tellAll(session.caller, facts('long'));
  return { session, pausesOf };
}

test('writes of long constants are encoded and applied in slices', async () => {
  const { session, pausesOf } = await openCounted();
  const { engine, caller } = session;
  expect(await pausesOf(() => engine.tellAll(caller, facts('other')))).toBeGreaterThan(2 * leastPauses);
});

test('queries, pages, exports and recalled facts with long constants are read in slices', async () => {
  const { session, pausesOf } = await openCounted();
  const { engine, caller, list } = session;
  const pattern = queryInputSchema.parse({ predicate: 'long', args: ['?x', '?y'] });
  const texts: string[] = [];
  const reads: Record<string, () => Promise<unknown>> = {
    query: () => engine.query(caller, pattern),
    page: () => list({ predicate: 'long', limit: String(count) }),
    recalled: () => engine.recall(caller, recallInputSchema.parse({ maxFacts: count })),
    exported: () =>
      engine.export(
        caller,
        {
          choice: { scope: null, unscoped: false, predicate: null, rules: false },
          format: 'csv',
        },
        async (part) => {
          const lines = String(part).split('\r\n').slice(0, -1);
          // A part is written in one turn.
          expect(lines.length).toBeLessThan(10);
          texts.push(...lines);
        },
      ),
  };
  for (const [name, read] of Object.entries(reads))
    expect(await pausesOf(read), name).toBeGreaterThan(leastPauses);
  expect(texts).toHaveLength(count);
});

test('conclusions that a retraction withdraws are rendered in slices', async () => {
  const { session, pausesOf } = await openCounted();
  const { teach, ask, engine, caller } = session;
  await teach('seen(?x) :- long(?x, ?y)');
  await ask('seen(?x)');
  const pattern = {
    ...queryInputSchema.parse({ predicate: 'long', args: ['?x', '?y'] }),
    truthVal: null,
    ifGeneration: null,
    dryRun: false,
    dependents: null,
    timeoutMs: 60_000,
  };
  let dependents = 0;
  const pauses = await pausesOf(async () => {
    dependents = (await engine.forgetPattern(caller, pattern)).dependentsCount;
  });
  expect(dependents).toBe(count);
  expect(pauses).toBeGreaterThan(leastPauses);
});
