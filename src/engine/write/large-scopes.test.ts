import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Slices } from '../base/slices.ts';
import { diffInputSchema, forkInputSchema, mergeInputSchema } from '../contract/scopes.ts';
import { factInput, type Fields, openSession, type Session } from '../testing/engine-fixtures.ts';

/** Forks, merges and deletions of many facts: applied in slices, with everything else running in between. */

const many = 4000;
const mostLooks = 4;

/** A session that calls a check at every pause during `work`, at most `mostLooks` times after the write was logged. */
async function openWatched() {
  // Every slice ends at the first check of the clock: however fast the machine, a large write has many.
  const isOver = vi.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true);
  onTestFinished(() => isOver.mockRestore());
  let look: (() => Promise<void>) | null = null;
  const session = await openSession({
    pause: async () => {
      await new Promise((resolve) => void setImmediate(resolve));
      const each = look;
      // The check itself pauses too.
      look = null;
      await each?.();
      look ??= each;
    },
  });
  const whileLooking = async (each: () => Promise<void>, work: () => Promise<unknown>): Promise<number> => {
    const { records } = session.engine.counters();
    let looks = 0;
    look = async () => {
      if (session.engine.counters().records > records && ++looks <= mostLooks) await each();
    };
    await work();
    look = null;
    return looks;
  };
  return { session, whileLooking };
}

function facts(count: number, scope: string, fields: Fields = {}) {
  const one = factInput('p(a, b)', { scope, ...fields });
  return Array.from({ length: count }, (_, at) => ({ ...one, args: [`n${at}`, `n${(at * 7) % count}`] }));
}

/** Everything visible to a reader of the scopes. */
async function seen({ engine, caller, list, ask }: Session): Promise<string> {
  const { facts: listed, total } = await list({ scope: 't', limit: '20' });
  const diff = await engine.diff(caller, diffInputSchema.parse({ source: 's', target: 't', limit: 3 }));
  const found = await ask('q(?x)', { scope: 't', limit: 3 });
  const known = listed.map(({ salience: _, ...fact }) => fact);
  const rules = (await engine.rules(caller)).map(({ id }) => id);
  const scopes = await engine.scopes(caller);
  return JSON.stringify([known, total, diff, found.results, found.generation, scopes, rules]);
}

const writes: Record<string, (session: Session) => Promise<unknown>> = {
  fork: ({ engine, caller }) => engine.fork(caller, forkInputSchema.parse({ source: 's', target: 't' })),
  merge: ({ engine, caller }) =>
    engine.merge(caller, mergeInputSchema.parse({ source: 's', target: 't', strategy: 'SOURCE_WINS' })),
  delete: ({ engine, caller }) => engine.deleteScope(caller, 't'),
};

for (const [name, write] of Object.entries(writes))
  test(`hides a large ${name} until it is complete`, async () => {
    const { session, whileLooking } = await openWatched();
    const { engine, caller, teach } = session;
    await teach('q(?x) :- p(?x, ?_)', { scope: 's' });
    await teach('q(?x) :- p(?_, ?x)', { scope: 't' });
    await engine.tellAll(caller, facts(many, 's', { metadata: { from: 's' } }));
    if (name !== 'fork') await engine.tellAll(caller, facts(many, 't', { metadata: { from: 't' } }));
    const before = await seen(session);
    const views = new Set<string>();
    const looks = await whileLooking(
      async () => void views.add(await seen(session)),
      () => write(session),
    );
    expect(looks).toBeGreaterThan(0);
    expect([...views]).toEqual([before]);
    expect(await seen(session)).not.toBe(before);
  });

test('does not compact dead rows while a write in slices uses them', async () => {
  const { session, whileLooking } = await openWatched();
  const { engine, caller, teach, results, list } = session;
  await teach('q(?x) :- p(?x, ?_)');
  await engine.tellAll(caller, facts(3 * many, 't'));
  await engine.tellAll(caller, facts(many, 's'));
  expect(await results('q(?x)', { scope: 's' })).toHaveLength(many);
  // Most rows are dead from here on, and the tables of the question have yet to take that in.
  await engine.deleteScope(caller, 't');
  const looks = await whileLooking(
    () => wait(20),
    () => engine.deleteScope(caller, 's'),
  );
  expect(looks).toBeGreaterThan(0);
  expect((await list({ scope: 's' })).total).toBe(0);
  expect(await results('q(?x)', { scope: 's' })).toEqual([]);
  expect(engine.counters().facts).toBe(0);
});

test('continues writes and questions beside a large fork, ordered after it if they were made after it', async () => {
  const { session } = await openWatched();
  const { engine, caller, tell, list } = session;
  await engine.tellAll(caller, facts(many, 's'));
  const forked = writes['fork']?.(session);
  const told = tell('p(later, later)', { scope: 't' });
  const again = engine
    .fork(caller, forkInputSchema.parse({ source: 's', target: 't' }))
    .catch((error: Error) => error);
  expect(await forked).toMatchObject({ facts: many, generation: 2 });
  expect(await told).toMatchObject({ status: 'asserted', generation: 3 });
  expect(await again).toMatchObject({ code: 'Conflict' });
  expect((await list({ scope: 't' })).total).toBe(many + 1);
});
