import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Slices } from '../base/slices.ts';
import type { Change } from '../session/change-feed.ts';
import {
  factInput,
  type Fields,
  longest,
  openSession,
  refusal,
  type Session,
} from '../testing/engine-fixtures.ts';

/**
 * Writes of very many facts: applied in slices with everything else running in between, and visible as a whole or not
 * at all.
 */

const many = 8000;
const mostLooks = 5;

interface Watched {
  readonly session: Session;
  /** Calls a check at every pause until `work` is done, and returns how often that was while it was being applied. */
  readonly whileLooking: (look: () => Promise<void>, work: () => Promise<unknown>) => Promise<number>;
}

async function openWatched(): Promise<Watched> {
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
      if (each !== null && isOn) look = each;
    },
  });
  let isOn = false;
  return {
    session,
    whileLooking: async (each, work) => {
      const { records } = session.engine.counters();
      let [before, looks] = [0, 0];
      isOn = true;
      look = async () => {
        const isApplied = session.engine.counters().records > records;
        // The check costs more than the write, and a busy machine has many pauses.
        if ((isApplied ? ++looks : ++before) <= mostLooks) await each();
      };
      await work();
      isOn = false;
      look = null;
      return looks;
    },
  };
}

function facts(count: number, fields: Fields = {}) {
  const one = factInput('p(a, b)', fields);
  return Array.from({ length: count }, (_, at) => ({ ...one, args: [`n${at}`, `n${(at * 7) % count}`] }));
}

/** Everything visible to a reader, except the effect of uses on salience. */
async function seen({ engine, caller, query, ask, list }: Session): Promise<string> {
  const { facts: listed, total } = await list({ limit: '50', sort: 'createdAt', order: 'desc' });
  const known = listed.map(({ salience: _, ...fact }) => fact);
  const stored = await query('p(?x, ?y)');
  const found = await ask('q(?x)', { limit: 3 });
  const one = await engine.fact(caller, listed[0]?.id ?? 'f1-0').then(
    ({ history, metadata, validUntil }) => ({ history, metadata, validUntil }),
    (error: Error) => error.message,
  );
  const { databases } = await engine.databases(caller);
  const { predicates } = await engine.predicates(caller);
  const tried = await engine.forgetPattern(caller, {
    predicate: 'p',
    args: ['?x', '?y'],
    truthVal: null,
    scope: null,
    unscoped: false,
    dryRun: true,
    dependents: 'known',
    ifGeneration: null,
    ...longest,
  });
  const counts = predicates.map(({ name, facts: count }) => [name, count]);
  const shown = [
    total,
    stored.length,
    found.results.length,
    found.generation,
    tried.retracted,
    tried.generation,
  ];
  return JSON.stringify([known, shown, one, databases, counts, engine.counters().facts]);
}

test('hides a large assert until it is complete, from every kind of read', async () => {
  const { session, whileLooking } = await openWatched();
  const { engine, caller, tell, teach } = session;
  await teach('q(?x) :- p(?x, ?_)');
  await tell('p(n1, n7)', { metadata: { importance: 0.5 } });
  await tell('p(other, other)');
  const before = await seen(session);
  const views = new Set<string>();
  const batch = facts(many, { validUntil: Date.UTC(2030, 0, 1), metadata: { a: 1 } });
  const looks = await whileLooking(
    async () => void views.add(await seen(session)),
    async () =>
      expect(await engine.tellAll(caller, batch)).toMatchObject({
        asserted: many - 1,
        updated: 1,
        generation: 4,
      }),
  );
  expect(looks).toBeGreaterThan(0);
  expect([...views]).toEqual([before]);
  expect(await seen(session)).not.toBe(before);
  expect((await session.list({ limit: '1' })).total).toBe(many + 1);
});

test('hides a large update, and a large retraction, until they are complete', async () => {
  const { session, whileLooking } = await openWatched();
  const { engine, caller, teach, forgetPattern } = session;
  await teach('q(?x) :- p(?x, ?_)');
  await engine.tellAll(caller, facts(many));
  for (const write of [
    () => engine.tellAll(caller, facts(many, { metadata: { importance: 1 } })),
    () => forgetPattern('p(?x, ?y)'),
    () => engine.tellAll(caller, facts(many)),
  ]) {
    const before = await seen(session);
    const views = new Set<string>();
    const looks = await whileLooking(async () => void views.add(await seen(session)), write);
    expect(looks).toBeGreaterThan(0);
    // When the write is complete, the search for what it withdrew still runs.
    const after = await seen(session);
    expect([...views].filter((view) => view !== after)).toEqual([before]);
  }
});

test('hides a tenant created by a large write before that is complete', async () => {
  const { session, whileLooking } = await openWatched();
  const counts = new Set<string>();
  const look = async (): Promise<void> => {
    const { databases } = await session.engine.databases(session.caller);
    counts.add(JSON.stringify(databases.map(({ tenants, facts: stored }) => [tenants, stored])));
  };
  expect(await whileLooking(look, () => session.engine.tellAll(session.caller, facts(many)))).toBeGreaterThan(
    0,
  );
  expect([...counts]).toEqual(['[[0,0]]']);
});

test('applies writes that arrive during a large one after it, in order', async () => {
  const { session, whileLooking } = await openWatched();
  const { engine, caller, tell, teach, forget, changeRule } = session;
  const later: Promise<{ generation: number }>[] = [];
  const { records } = engine.counters();
  const look = async (): Promise<void> => {
    if (later.length > 0 || engine.counters().records === records) return;
    later.push(tell('z(a)'), forget('p(n3, n21)'), teach('r(?x) :- p(?x, n14)'), tell('z(b)', { ttl: 5000 }));
    later.push(changeRule('r4', { enabled: false }), tell('z(c)'), forget('z(c)'));
  };
  let first = 0;
  await whileLooking(look, async () => {
    first = (await engine.tellAll(caller, facts(many))).generation;
  });
  const generations = (await Promise.all(later)).map(({ generation }) => generation);
  expect([first, ...generations]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await session.query('p(?x, ?y)')).toHaveLength(many - 1);
  expect(await session.results('z(?x)')).toEqual(['z(a)', 'z(b)']);
  expect(await session.results('r(?x)')).toEqual([]);
});

test('withdraws conclusions derived between slices with the facts they rest on', async () => {
  const { session, whileLooking } = await openWatched();
  const { engine, caller, teach, ask, forgetPattern } = session;
  await teach('q(?x) :- p(?x, n7)');
  await engine.tellAll(caller, facts(many));
  const { records } = engine.counters();
  const asked: string[] = [];
  const look = async (): Promise<void> => {
    if (asked.length === 0 && engine.counters().records > records)
      asked.push(...(await ask('q(?x)')).results);
  };
  let dependents: string[] = [];
  await whileLooking(look, async () => {
    ({ dependents } = await forgetPattern('p(?x, ?y)'));
  });
  expect(asked).toEqual(['q(n1)']);
  expect(dependents).toEqual(['q(n1)']);
  expect(await session.results('q(?x)')).toEqual([]);
});

test('identifies constants of a large write with those that a question had added before', async () => {
  const { session, whileLooking } = await openWatched();
  const { engine, caller, teach, tell, ask } = session;
  await teach('next(?x, ?y) :- v(?x), ?y = ?x + 1');
  await teach('both(?x) :- next(?_, ?x), p(?x, ?_)');
  await tell('v(1)');
  await tell('v(41)');
  const numbers = Array.from({ length: many }, (_, at) => ({
    ...factInput('p(a, b)'),
    args: [String(at), 'x'],
  }));
  expect((await ask('next(1, ?y)')).results).toEqual(['next(1, 2)']);
  const answers = new Set<string>();
  const look = async (): Promise<void> => {
    for (const question of [
      'next(?x, 42)',
      'both(42)',
      'next(41, ?x), next(?z, 42)',
      'next(?x, ?y), 42 = ?y',
    ])
      answers.add(`${question}: ${(await ask(question)).results.join(' and ')}`);
  };
  expect(await whileLooking(look, () => engine.tellAll(caller, numbers))).toBeGreaterThan(0);
  expect([...answers]).toEqual([
    'next(?x, 42): next(41, 42)',
    'both(42): ',
    'next(41, ?x), next(?z, 42): next(41, 42), next(41, 42)',
    'next(?x, ?y), 42 = ?y: next(41, 42), 42 = 42',
  ]);
  expect((await ask('both(?x)')).results).toEqual(['both(2)', 'both(42)']);
});

test('reads large writes at the start as they were made', async () => {
  const storageDir = mkdtempSync(join(tmpdir(), 'corollary-large-'));
  onTestFinished(() => rmSync(storageDir, { recursive: true }));
  const first = await openSession({ storageDir });
  await first.engine.tellAll(first.caller, facts(many, { metadata: { text: 'é\u2028"' } }));
  await first.engine.tellAll(first.caller, facts(many / 2, { ttl: 60_000 }));
  await first.forgetPattern('p(?x, n0)');
  const before = await seen(first);
  await first.engine.close();
  const second = await openSession({ storageDir });
  expect(await seen(second)).toBe(before);
});

test('names the fact in a batch whose validity ends before it begins, and stores nothing', async () => {
  const { session } = await openWatched();
  const { engine, caller, tell, list } = session;
  await tell('p(n700, n900)', { validFrom: Date.UTC(2040, 0, 1) });
  const bad = facts(2000, { validUntil: Date.UTC(2030, 0, 1) });
  const refused = engine.tellAll(caller, bad);
  await expect(refused).rejects.toMatchObject({ code: 'ValidationException' });
  await expect(refused).rejects.toMatchObject({ members: { errors: [{ path: 'facts.700.validUntil' }] } });
  expect((await list()).total).toBe(1);
});

test('while a large write of a tenant is applied, other tenants write, and its own readers and transactions see the state before', async () => {
  const isOver = vi.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true);
  onTestFinished(() => isOver.mockRestore());
  const a = (await openSession()).as({ tenant: 'a' });
  const b = a.as({ tenant: 'b' });
  const { engine } = a;
  const published: Change[] = [];
  engine.subscribe((change) => published.push(change));
  await a.tell('p(n0)');
  await b.tell('p(n0)');
  let isApplied = false;
  const texts = Array.from({ length: 20_000 }, (_, at) => `p(n${at})`);
  const large = a.tellAll(texts, { metadata: { by: 'the large write' } }).then((outcome) => {
    isApplied = true;
    return outcome;
  });
  // Once the large write has taken its generation, readers of its tenant see an earlier one than writers of the other.
  let beside = 0;
  let meanwhile = await a.ask('p(?x)');
  while (meanwhile.generation >= beside && !isApplied) {
    // In memory a write ends without a turn of the event loop.
    await new Promise((resolve) => void setImmediate(resolve));
    beside = (await b.tell(`q(n${beside})`)).generation;
    meanwhile = await a.ask('p(?x)');
  }
  const { id } = await engine.begin(a.caller);
  expect(isApplied).toBe(false);
  expect([meanwhile.total, meanwhile.generation]).toEqual([1, beside - 2]);
  const within = engine.within({ ...a.caller, transaction: id });
  await within.tell(factInput('p(n0)', { metadata: { by: 'the transaction' } }));
  expect((await b.ask('q(?x)')).generation).toBeGreaterThanOrEqual(beside);
  expect((await large).generation).toBe(beside - 1);
  expect((await a.ask('p(?x)', { limit: 1 })).total).toBe(texts.length);
  expect((await refusal(engine.commit(a.caller, id, false))).code).toBe('Conflict');
  // The event of the large write is published after those of later generations, under an id of its own.
  const ids = published.map((change) => change.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(
    published.findIndex(({ tenant, data }) => tenant === 'a' && data.generation === beside - 1),
  ).toBeGreaterThan(published.findIndex(({ data }) => data.generation === beside));
});
