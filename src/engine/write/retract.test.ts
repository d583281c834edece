import { expect, onTestFinished, test, vi } from 'vitest';
import {
  chainOf,
  day,
  factInput,
  gate,
  openSession,
  refusal,
  retractPatternInput,
  second,
  startTime,
} from '../testing/engine-fixtures.ts';

/** Retraction and its consequences: contract section 3. */

test('removes a retracted fact and names it in the answer', async () => {
  const { tell, forget, query } = await openSession();
  await tell('p(a)');
  expect(await forget('p(a)')).toEqual({
    status: 'retracted',
    atom: 'p(a)',
    retracted: 1,
    dependents: [],
    dependentsCount: 0,
    dependentsComplete: true,
    generation: 2,
  });
  expect(await query('p(?x)')).toEqual([]);
});

test('reports an unknown fact as absent, and changes nothing', async () => {
  const { tell, forget } = await openSession();
  await tell('p(a)');
  for (const atom of ['p(b)', '-p(a)', 'p(a, a)', 'q(a)', 'p()'])
    expect(await forget(atom)).toMatchObject({ status: 'absent', atom, retracted: 0, generation: 1 });
  expect(await forget('p(a)')).toMatchObject({ status: 'retracted', generation: 2 });
  expect(await forget('p(a)')).toMatchObject({ status: 'absent', generation: 2 });
});

test('retracts from every scope without a scope, and both truth values without one', async () => {
  const { tell, forget, list } = await openSession();
  const fill = async (): Promise<void> => {
    for (const atom of ['p(a)', '-p(a)', 'p(b)'])
      for (const scope of [null, 's', 't']) await tell(atom, { scope });
  };
  const left = async (): Promise<number> => (await list()).total;
  await fill();
  expect((await forget('p(a)')).retracted).toBe(6);
  expect(await left()).toBe(3);
  await fill();
  expect((await forget('p(a)', { truthVal: true })).retracted).toBe(3);
  expect((await forget('p(a)', { truthVal: false, scope: 's' })).retracted).toBe(1);
  expect((await forget('p(a)', { unscoped: true })).retracted).toBe(1);
  expect(await left()).toBe(4);
});

test('retracts everything that matches a pattern: constants, repeated variables, anything', async () => {
  const { tellAll, forgetPattern, list } = await openSession();
  const facts = ['p(a, a)', 'p(a, b)', 'p(b, b)', '-p(c, c)', 'p(a)'];
  await tellAll(facts);
  expect(await forgetPattern('p(?x, ?x)')).toMatchObject({
    status: 'retracted',
    retracted: 3,
    generation: 2,
  });
  expect(await forgetPattern('p(?x, ?x)')).toMatchObject({ status: 'absent', retracted: 0, generation: 2 });
  await tellAll(facts);
  expect((await forgetPattern('p(a, ?x)', { truthVal: true })).retracted).toBe(2);
  expect((await forgetPattern('p(?_, ?_)')).retracted).toBe(2);
  expect((await list()).facts.map(({ args }) => args)).toEqual([['a']]);
});

test('retracts a fact by its id', async () => {
  const { tell, engine, caller } = await openSession();
  const { id } = await tell('-p(a)', { scope: 's' });
  await tell('-p(a)');
  expect(await engine.forgetById(caller, id)).toMatchObject({
    status: 'retracted',
    atom: '-p(a)',
    retracted: 1,
    generation: 3,
  });
  expect((await refusal(engine.forgetById(caller, id))).code).toBe('FactNotFound');
  expect((await refusal(engine.forgetById(caller, 'nonsense'))).code).toBe('FactNotFound');
});

test('returns as dependents the conclusions that are no longer true, rendered and in order', async () => {
  const { tellAll, teach, results, forget } = await openSession();
  await teach('q(?x) :- p(?x)');
  await teach('-r(?x, "1, 2") :- q(?x)');
  await teach('q(?x) :- other(?x)');
  await tellAll(['p(b)', 'p(a)', 'other(c)', 'p(c)']);
  await results('-r(?x, ?y)');
  expect(await forget('p(b)')).toMatchObject({
    dependents: ['-r(b, "1, 2")', 'q(b)'],
    dependentsCount: 2,
  });
  expect(await forget('p(c)')).toMatchObject({ dependents: [], dependentsCount: 0 });
  expect(await forget('other(c)')).toMatchObject({ dependents: ['-r(c, "1, 2")', 'q(c)'] });
});

test('excludes conclusions that are also stored, and the retracted fact itself, from dependents', async () => {
  const { tellAll, teach, results, forget } = await openSession();
  await teach('q(?x) :- p(?x)');
  await teach('p(?x) :- q(?x)');
  await tellAll(['p(a)', 'q(b)', 'p(b)']);
  await results('q(?x)');
  await results('p(?x)');
  expect((await forget('p(a)')).dependents).toEqual(['q(a)']);
  expect((await forget('p(b)')).dependents).toEqual([]);
  expect((await forget('q(b)')).dependents).toEqual(['p(b)']);
});

test('examines only known conclusions unless all are requested', async () => {
  const { tellAll, teach, results, forget } = await openSession();
  await teach('q(?x) :- p(?x)');
  await teach('r(?x) :- q(?x)');
  await tellAll(['p(a)', 'p(b)', 'p(c)']);
  expect(await forget('p(a)')).toMatchObject({ dependents: [], dependentsComplete: true });
  await results('q(c)');
  expect((await forget('p(c)')).dependents).toEqual(['q(c)']);
  expect(await forget('p(b)', { dependents: 'all' })).toMatchObject({
    dependents: ['q(b)', 'r(b)'],
    dependentsCount: 2,
    dependentsComplete: true,
  });
});

test('keeps conclusions known through other changes', async () => {
  const { tellAll, tell, teach, results, forget } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tellAll(['p(a)', 'p(b)', 'p(c)']);
  await results('q(?x)');
  await tell('p(d)');
  await forget('p(b)');
  await tell('p(b)');
  expect((await forget('p(a)')).dependents).toEqual(['q(a)']);
  expect((await forgetAll(forget, ['p(b)', 'p(c)'])).flat()).toEqual(['q(b)', 'q(c)']);
});

async function forgetAll(
  forget: (atom: string) => Promise<{ dependents: string[] }>,
  atoms: readonly string[],
): Promise<string[][]> {
  const found: string[][] = [];
  for (const atom of atoms) found.push((await forget(atom)).dependents);
  return found;
}

test('resets what is known at a change of rules', async () => {
  const { tellAll, teach, results, forget } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tellAll(['p(a)', 'p(b)']);
  await results('q(?x)');
  await teach('r(?x) :- q(?x)');
  expect((await forget('p(a)')).dependents).toEqual([]);
  expect((await forget('p(b)', { dependents: 'all' })).dependents).toEqual(['q(b)', 'r(b)']);
});

test('finds dependents in the view of everything and in the views of the affected scopes', async () => {
  const { tell, teach, results, forget } = await openSession();
  await teach('pair(?x, ?y) :- left(?x), right(?y)');
  await teach('own(?x) :- left(?x)', { scope: 's' });
  await tell('left(a)', { scope: 's' });
  await tell('right(b)', { scope: 's' });
  await tell('right(c)', { scope: 't' });
  for (const where of [{}, { scope: 's' }]) await results('pair(?x, ?y)', where);
  await results('own(?x)');
  expect((await forget('left(a)', { dryRun: true })).dependents).toEqual([
    'own(a)',
    'pair(a, b)',
    'pair(a, c)',
  ]);
  await tell('left(a)', { scope: 't' });
  // The view of everything still has the pairs, the view of scope s does not.
  expect((await forget('left(a)', { scope: 's' })).dependents).toEqual(['own(a)', 'pair(a, b)']);
});

test('does not report a conclusion that a retraction makes true as a dependent', async () => {
  const { tellAll, teach, results, forget } = await openSession();
  await teach('free(?x) :- room(?x), not taken(?x)');
  await teach('calm(?x) :- taken(?x), not free(?x)');
  await tellAll(['room(a)', 'taken(a)']);
  expect([await results('free(?x)'), await results('calm(?x)')]).toEqual([[], ['calm(a)']]);
  expect((await forget('taken(a)', { dependents: 'all' })).dependents).toEqual(['calm(a)']);
  expect(await results('free(?x)')).toEqual(['free(a)']);
});

test('reports conclusions with constants that only inference makes as dependents too', async () => {
  const { tellAll, teach, results, forget } = await openSession();
  await teach('next(?x, ?y) :- p(?x), ?y = ?x + 1');
  await teach('count(?n) :- ?n = count { ?x : p(?x) }');
  await tellAll(['p(1000)', 'p(2000)', 'p(3000)']);
  expect((await forget('p(1000)', { dependents: 'all' })).dependents).toEqual([
    'count(3)',
    'next(1000, 1001)',
  ]);
  expect(await results('next(?x, ?y)')).toEqual(['next(2000, 2001)', 'next(3000, 3001)']);
  expect(await results('count(?n)')).toEqual(['count(2)']);
  expect((await forget('p(2000)')).dependents).toEqual(['count(2)', 'next(2000, 2001)']);
  expect((await forget('p(3000)', { dryRun: true, dependents: 'all' })).dependents).toEqual([
    'count(1)',
    'next(3000, 3001)',
  ]);
});

test('keeps conclusions known when so many are deleted at once that their tables are dropped', async () => {
  const { engine, caller, teach, ask, forget, tell } = await openSession();
  await teach('q(?x) :- p(?x), not off(a)');
  const names = Array.from({ length: 20_001 }, (_, at) => `n${at}`);
  await engine.tellAll(
    caller,
    names.map((name) => ({ ...factInput('p(a)'), args: [name] })),
  );
  await ask('q(?x)', { limit: 1 });
  await tell('off(a)');
  // Brings the tables up to date.
  await engine.predicates(caller);
  await forget('off(a)');
  expect((await forget('p(n7)')).dependents).toEqual(['q(n7)']);
});

test('renders the first hundred of many dependents and counts all', async () => {
  const { engine, caller, teach, results, forget, tell } = await openSession();
  await teach('q(?x, ?y) :- all(?x), p(?y)');
  await tell('all(a)');
  const facts = Array.from({ length: 250 }, (_, at) => ({ ...factInput('p(a)'), args: [`n${at}`] }));
  await engine.tellAll(caller, facts);
  await results('q(?x, ?y)');
  const outcome = await forget('all(a)');
  const sorted = facts.map(({ args }) => `q(a, ${args[0]})`).sort();
  expect(outcome.dependents).toEqual(sorted.slice(0, 100));
  expect(outcome).toMatchObject({ dependentsCount: 250, dependentsComplete: true });
});

test('returns the answer of the real call in a dry run, and changes nothing', async () => {
  const { tellAll, teach, results, forget, forgetPattern, query, ask } = await openSession();
  await teach('reach(?x, ?y) :- edge(?x, ?y)');
  await teach('reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)');
  await tellAll(chainOf(4));
  await results('reach(?x, ?y)');
  for (const dependents of ['known', 'all'])
    for (const fields of [{ dependents }, { dependents, scope: 'none' }]) {
      const tried = await forget('edge(n1, n2)', { ...fields, dryRun: true });
      expect(tried).toMatchObject({ dryRun: true, generation: 3 });
      expect(await query('edge(?x, ?y)')).toHaveLength(4);
      expect((await ask('reach(n0, n4)')).results).toHaveLength(1);
    }
  const tried = await forgetPattern('edge(n1, ?x)', { dryRun: true });
  const { dryRun, ...rest } = tried;
  const done = await forgetPattern('edge(n1, ?x)');
  expect(dryRun).toBe(true);
  expect(done).toEqual({ ...rest, generation: 4 });
  expect(done.dependents).toEqual([
    'reach(n0, n2)',
    'reach(n0, n3)',
    'reach(n0, n4)',
    'reach(n1, n2)',
    'reach(n1, n3)',
    'reach(n1, n4)',
  ]);
});

test('forgets what was derived only to find all dependents', async () => {
  const { tellAll, teach, results, forget, engine, caller } = await openSession();
  await teach('q(?x) :- p(?x)');
  await teach('r(?x, ?y) :- q(?x), ?y = ?x + 1');
  await tellAll(['p(1)', 'p(2)', 'p(3)', 'p(4)']);
  const all = { dependents: 'all' };
  const conclusions = ['q(1)', 'r(1, 2)'];
  expect((await forget('p(1)', { ...all, dryRun: true })).dependents).toEqual(conclusions);
  expect((await forget('p(1)')).dependents).toEqual([]);
  expect((await forget('p(2)', all)).dependents).toEqual(['q(2)', 'r(2, 3)']);
  expect((await forget('p(3)')).dependents).toEqual([]);
  expect((await engine.rules(caller)).map(({ fired }) => fired)).toEqual([0, 0]);
  // What was known before stays known.
  await results('q(4)');
  expect((await forget('p(4)', { ...all, dryRun: true })).dependents).toEqual(['q(4)', 'r(4, 5)']);
  expect((await forget('p(4)')).dependents).toEqual(['q(4)']);
});

test('makes nothing known and no rule count in a dry run of a retraction', async () => {
  const { tellAll, tell, teach, results, forget, engine, caller } = await openSession();
  await teach('q(?x) :- p(?x), s(?x)');
  await teach('r(?x) :- q(?x)');
  await teach('q(?x) :- other(?x)');
  await tellAll(['p(a)', 's(a)', 'p(b)', 's(b)']);
  await results('r(a)');
  // The tables are in doubt then: their contents are also examined in the earlier state.
  await tell('other(c)');
  const fired = (await engine.rules(caller)).map((rule) => rule.fired);
  for (const dependents of ['known', 'all']) {
    const tried = await forget('p(a)', { dependents, dryRun: true });
    expect(tried.dependents).toEqual(['q(a)', 'r(a)']);
  }
  expect((await engine.rules(caller)).map((rule) => rule.fired)).toEqual(fired);
  expect((await forget('p(b)')).dependents).toEqual([]);
});

test('reports an absent fact as absent in a dry run', async () => {
  const { forget, tell } = await openSession();
  await tell('p(a)');
  expect(await forget('p(b)', { dryRun: true })).toMatchObject({
    status: 'absent',
    retracted: 0,
    dryRun: true,
    generation: 1,
  });
});

test('refuses a retraction with ifGeneration if the fact changed since', async () => {
  const { tell, forget, forgetPattern, query } = await openSession();
  const { generation } = await tell('p(a)');
  await tell('p(b)');
  await tell('p(a)', { metadata: { v: 2 } });
  expect((await refusal(forget('p(a)', { ifGeneration: generation }))).code).toBe('Conflict');
  expect((await refusal(forget('p(a)', { ifGeneration: generation, dryRun: true }))).code).toBe('Conflict');
  expect((await refusal(forgetPattern('p(?x)', { ifGeneration: 2 }))).code).toBe('Conflict');
  expect(await query('p(?x)')).toHaveLength(2);
  expect((await forget('p(a)', { ifGeneration: 3 })).status).toBe('retracted');
  expect((await forgetPattern('p(?x)', { ifGeneration: 3 })).retracted).toBe(1);
});

test('excludes what expires during the search from dependents', async () => {
  const { tell, tellAll, teach, results, forget, engine, clock } = await openSession();
  await teach('q(?x) :- p(?x), key(a)');
  await tellAll(['key(a)', 'p(a)']);
  await tell('p(b)', { ttl: second });
  await teach('r(?x) :- p(?x)');
  expect(await results('q(?x), r(?x)')).toHaveLength(2);
  engine.subscribe(() => clock.set(startTime + day));
  const outcome = await forget('p(a)');
  expect(clock.now()).toBe(startTime + day);
  expect(outcome.dependents).toEqual(['q(a)', 'r(a)']);
  expect(await results('r(?x)')).toEqual([]);
});

test('ignores writes during the search for dependents', async () => {
  const { tellAll, teach, results, forget, tell, engine } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tellAll(['p(a)', 'p(b)']);
  await results('q(?x)');
  const others: Promise<unknown>[] = [];
  const stop = engine.subscribe(() => {
    stop();
    others.push(tell('q(a)'), forget('p(b)'));
  });
  expect((await forget('p(a)')).dependents).toEqual(['q(a)']);
  await Promise.all(others);
  expect(await results('q(?x)')).toEqual(['q(a)']);
});

test('retracts even if a limit ends the search for dependents', async () => {
  const { tellAll, teach, forget, query } = await openSession();
  await teach('reach(?x, ?y) :- edge(?x, ?y)');
  await teach('reach(?x, ?z) :- reach(?x, ?y), reach(?y, ?z)');
  await tellAll(chainOf(250));
  const outcome = await forget('edge(n120, n121)', { dependents: 'all', timeoutMs: 1 });
  expect(outcome).toMatchObject({ status: 'retracted', dependentsComplete: false });
  expect(await query('edge(n120, ?x)')).toEqual([]);
});

test('names the known conclusions whose proof uses the fact in GET /facts/:id', async () => {
  const { tell, tellAll, teach, results, engine, caller } = await openSession();
  await teach('q(?x) :- p(?x)');
  await teach('r(?x) :- q(?x)');
  const { id } = await tell('p(a)');
  await tellAll(['p(b)', 'q(c)']);
  expect((await engine.fact(caller, id)).dependents).toEqual([]);
  await results('r(?x)');
  expect((await engine.fact(caller, id)).dependents).toEqual(['q(a)', 'r(a)']);
  await tell('q(a)');
  await results('r(?x)');
  expect((await engine.fact(caller, id)).dependents).toEqual([]);
});

test('finds dependents among many known conclusions in GET /facts/:id', async () => {
  const { engine, caller, tell, teach, results } = await openSession();
  await teach('q(?x, ?y) :- all(?x), p(?y)');
  const facts = Array.from({ length: 1000 }, (_, at) => ({ ...factInput('p(a)'), args: [`n${at}`] }));
  await tell('all(a)');
  await engine.tellAll(caller, facts);
  expect(await results('q(?x, ?y)')).toHaveLength(1000);
  const { dependents } = await engine.fact(caller, 'f3-700');
  expect(dependents).toEqual(['q(a, n700)']);
});

test('reads one state in a dry run of a retraction, whatever is written meanwhile', async () => {
  const held = gate();
  const session = await openSession({ pause: held.pause });
  const { tell, tellAll, teach, results, engine, caller } = session;
  await tellAll(['p(1)', 'p(2)']);
  await teach('q(?x) :- p(?x)');
  await teach('q(?x) :- r(?x)');
  await results('q(1)');
  // Every check of the time is the last of its slice.
  let now = 0;
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 6));
  onTestFinished(() => time.mockRestore());
  const reached = held.hold();
  const input = retractPatternInput('p(?x)', { dryRun: true, dependents: 'known', timeoutMs: 600_000 });
  const tried = engine.forgetPattern(caller, input);
  await reached;
  await tell('r(new)');
  await results('q(new)');
  held.release();
  expect(await tried).toMatchObject({ retracted: 2, dependents: ['q(1)'], generation: 3 });
});

test('reports dependents as incomplete in a dry run without time, as the write would', async () => {
  const { tellAll, teach, results, forgetPattern } = await openSession();
  await tellAll(['p(1)', 'p(2)']);
  await teach('q(?x) :- p(?x)');
  await results('q(?x)');
  let now = 0;
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 6));
  onTestFinished(() => time.mockRestore());
  const expected = { status: 'retracted', retracted: 2, dependentsComplete: false };
  expect(await forgetPattern('p(?x)', { dryRun: true, timeoutMs: 1 })).toMatchObject(expected);
  expect(await forgetPattern('p(?x)', { timeoutMs: 1 })).toMatchObject(expected);
});

test('lists no dependents that take more memory than a question may have, and says so', async () => {
  const { engine, caller, teach, ask, forgetPattern } = await openSession({
    memoryBudgetBytes: 1_000_000_000,
    questionMemoryBytes: 2_000_000,
  });
  const constant = (at: number): string => `n${at}`.padEnd(1000, 'x');
  const facts = Array.from({ length: 3000 }, (_, at) => ({ ...factInput('p(a)'), args: [constant(at)] }));
  await engine.tellAll(caller, facts);
  await teach('q(?x) :- p(?x)');
  expect((await ask('q(?x)', { limit: 1 })).count).toBe(1);
  const preview = await forgetPattern('p(?x)', { dryRun: true });
  expect(preview).toMatchObject({ retracted: 3000, dependents: [], notWorkedOut: ['q/1'] });
  const one = await forgetPattern(`p(${constant(7)})`);
  expect(one).toMatchObject({ dependents: [`q(${constant(7)})`], dependentsComplete: true });
  const gone = await forgetPattern('p(?x)');
  expect(gone).toMatchObject({ retracted: 2999, dependents: [], dependentsComplete: false });
  expect((await ask('q(?x)')).count).toBe(0);
});
