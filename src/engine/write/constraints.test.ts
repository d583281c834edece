import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import {
  constraintInputSchema,
  constraintUpdateSchema,
  type ConstraintOutcome,
  type ConstraintViolation,
} from '../contract/constraints.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { mergeEntitiesInputSchema } from '../contract/entities.ts';
import { violationsQuerySchema } from '../contract/violations.ts';
import { mergeInputSchema, forkInputSchema } from '../contract/scopes.ts';
import { memoryBackend, type MemoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import {
  type Fields,
  factInput,
  openSession,
  proofLines,
  refusal,
  retractInput,
  ruleInput,
  second,
  type Session,
  sessionOf,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';

const adults = '!- adult(?x), age(?x, ?a), ?a < 18';

function constrain(
  { engine, caller }: Session,
  text: string,
  fields: Fields = {},
): Promise<ConstraintOutcome> {
  return engine.addConstraint(
    caller,
    constraintInputSchema.parse({ text, name: text, mode: 'reject', ...fields }),
  );
}

function change({ engine, caller }: Session, id: string, fields: Fields): Promise<ConstraintOutcome> {
  return engine.updateConstraint(caller, id, constraintUpdateSchema.parse(fields));
}

async function listed({ engine, caller }: Session, query: Fields = {}): Promise<ConstraintViolation[]> {
  const wanted = violationsQuerySchema.parse({ kind: 'constraint', ...query });
  return (await engine.violations(caller, wanted)).violations as ConstraintViolation[];
}

async function instances(session: Session, query: Fields = {}): Promise<string[]> {
  return (await listed(session, query)).map(
    ({ instance, scope }) => `${scope === null ? '' : `${scope}: `}${instance}`,
  );
}

test('refuses a write that would violate a constraint, with the proof, and stores nothing', async () => {
  const session = await openSession();
  await constrain(session, `${adults} "whoever is an adult is of age"`, { name: 'of age' });
  await session.tell('age(ann, 12)');
  const { generation } = await session.tell('age(bob, 40)');
  const error = await refusal(session.tell('adult(ann)'));
  expect(error.code).toBe('ConstraintViolated');
  expect(error.message).toContain('"of age"');
  const [violation] = error.members['violations'] as ConstraintViolation[];
  expect(violation).toMatchObject({
    kind: 'constraint',
    name: 'of age',
    scope: null,
    bindings: { x: 'ann', a: '12' },
    instance: 'adult(ann), age(ann, 12), 12 < 18',
  });
  expect(violation?.proof === null ? [] : proofLines(violation?.proof as never)).toEqual([
    '0 fact adult(ann)',
    '1 fact age(ann, 12)',
    '2 builtin 12 < 18',
    '3 rule adult(ann), age(ann, 12), 12 < 18 [0 1 2]',
  ]);
  expect(error.members['violationCount']).toBe(1);
  expect(await session.results('adult(?x)')).toEqual([]);
  expect((await session.tell('adult(bob)')).generation).toBe(generation + 1);
});

test('lists violations of a constraint that warns, and refuses nothing for it', async () => {
  const session = await openSession();
  await constrain(session, adults, { mode: 'warn' });
  await session.tellAll(['adult(ann)', 'age(ann, 12)', 'adult(bob)', 'age(bob, 3)']);
  expect(await instances(session)).toEqual([
    'adult(ann), age(ann, 12), 12 < 18',
    'adult(bob), age(bob, 3), 3 < 18',
  ]);
  await session.forget('adult(ann)');
  expect(await instances(session)).toEqual(['adult(bob), age(bob, 3), 3 < 18']);
});

test('refuses only what is violated after the write and was not before', async () => {
  const session = await openSession();
  const { id } = await constrain(session, adults, { mode: 'warn' });
  await session.tellAll(['adult(ann)', 'age(ann, 12)']);
  await change(session, id, { mode: 'reject' });
  await session.tell('age(bob, 3)');
  await session.tell('adult(ann)', { metadata: { note: 'again' } });
  expect((await refusal(session.tell('adult(bob)'))).code).toBe('ConstraintViolated');
  expect(await instances(session)).toEqual(['adult(ann), age(ann, 12), 12 < 18']);
});

test('refuses a new constraint that is violated already, and tells by a dry run what violates it', async () => {
  const session = await openSession();
  await session.tellAll(['adult(ann)', 'age(ann, 12)']);
  const tried = await constrain(session, adults, { dryRun: true });
  expect(tried).toMatchObject({ dryRun: true, violationCount: 1, refused: 'ConstraintViolated' });
  expect(tried.violations?.map(({ instance }) => instance)).toEqual(['adult(ann), age(ann, 12), 12 < 18']);
  expect((await refusal(constrain(session, adults))).code).toBe('ConstraintViolated');
  expect(await session.engine.constraints(session.caller)).toEqual([]);
  const warned = await constrain(session, adults, { mode: 'warn', dryRun: true });
  expect(warned.refused).toBeUndefined();
});

test('checks a constraint without scope in the unscoped view and in that of each scope, never over all', async () => {
  const session = await openSession();
  await constrain(session, adults);
  await session.tell('adult(ann)');
  await session.tell('age(ann, 12)', { scope: 's' });
  expect((await refusal(session.tell('adult(ann)', { scope: 's' }))).code).toBe('ConstraintViolated');
  expect(await instances(session)).toEqual([]);
});

test('checks a constraint with a scope in the view of that scope only', async () => {
  const session = await openSession();
  await constrain(session, adults, { scope: 's' });
  await session.tellAll(['adult(ann)', 'age(ann, 12)']);
  await session.tell('adult(ann)', { scope: 's' });
  expect((await refusal(session.tell('age(ann, 12)', { scope: 's' }))).code).toBe('ConstraintViolated');
});

test('a scope that begins to exist must satisfy what every view must', async () => {
  const session = await openSession();
  await session.tell('config(on)');
  await constrain(session, '!- not config(?_)');
  expect((await refusal(session.tell('p(a)', { scope: 's' }))).code).toBe('ConstraintViolated');
  await session.tell('config(on)', { scope: 's' });
  await session.tell('p(a)', { scope: 's' });
  expect((await refusal(session.forget('config(on)', { scope: 's' }))).code).toBe('ConstraintViolated');
  await session.forget('p(a)', { scope: 's' });
  // With its last fact the scope ends, and its view with it.
  expect((await session.forget('config(on)', { scope: 's' })).status).toBe('retracted');
});

test('judges retractions, through rules and default negation', async () => {
  const session = await openSession();
  await session.teach('reaches(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reaches(?x, ?z) :- reaches(?x, ?y), edge(?y, ?z)');
  await session.tellAll(['edge(a, b)', 'edge(b, c)', 'edge(a, c)', 'needs(a, c)']);
  await constrain(session, '!- needs(?x, ?y), not reaches(?x, ?y)');
  await session.forget('edge(a, c)');
  const error = await refusal(session.forget('edge(b, c)'));
  expect(error.code).toBe('ConstraintViolated');
  expect((error.members['violations'] as ConstraintViolation[])[0]?.instance).toBe(
    'needs(a, c), not reaches(a, c)',
  );
  expect(await session.results('reaches(a, ?y)')).toEqual(['reaches(a, b)', 'reaches(a, c)']);
});

test('judges aggregates', async () => {
  const session = await openSession();
  await constrain(session, '!- team(?t), ?n = count { ?p : member(?p, ?t) }, ?n > 2');
  await session.tellAll(['team(red)', 'member(ann, red)', 'member(bob, red)']);
  const error = await refusal(session.tell('member(cid, red)'));
  expect((error.members['violations'] as ConstraintViolation[])[0]).toMatchObject({
    bindings: { t: 'red' },
    instance: 'team(red), 3 = count { ?p : member(?p, red) }, 3 > 2',
  });
});

test('judges rules in the tenant of their caller', async () => {
  const session = await openSession();
  await constrain(session, '!- dead(?x), alive(?x)');
  await session.tellAll(['dead(ann)', 'person(ann)']);
  expect((await refusal(session.teach('alive(?x) :- person(?x)'))).code).toBe('ConstraintViolated');
  const other = session.as({ tenant: 'other' });
  const { id } = await other.teach('alive(?x) :- person(?x)');
  expect(await instances(session)).toEqual(['dead(ann), alive(ann)']);
  await session.engine.forgetRule(session.caller, id);
  expect(await instances(session)).toEqual([]);
});

test('judges a transaction at its commit, as a whole', async () => {
  const session = await openSession();
  await session.tell('account(a, 10)');
  await constrain(session, '!- not account(a, ?_)');
  const { engine, caller } = session;
  const { id } = await engine.begin(caller);
  const inside = { ...caller, transaction: id };
  await engine.within(inside)?.forget(retractInput('account(a, 10)'));
  await engine.within(inside)?.tell({ ...factInput('account(a, 20)'), ifGeneration: null });
  expect((await engine.commit(caller, id, false)).status).toBe('committed');
  const next = await engine.begin(caller);
  const again = { ...caller, transaction: next.id };
  await engine.within(again)?.forget(retractInput('account(a, 20)'));
  const error = await refusal(engine.commit(caller, next.id, false));
  expect(error.code).toBe('ConstraintViolated');
  expect(error.members['transaction']).toBe('rolled_back');
  expect(await session.results('account(?x, ?y)')).toEqual(['account(a, 20)']);
});

test('judges merges, and no forks', async () => {
  const session = await openSession();
  const { id } = await constrain(session, adults, { mode: 'warn' });
  await session.tell('adult(ann)', { scope: 'work' });
  await session.tell('age(ann, 12)', { scope: 'main' });
  await change(session, id, { mode: 'reject' });
  const { engine, caller } = session;
  const merge = mergeInputSchema.parse({
    source: 'work',
    target: 'main',
    strategy: 'SOURCE_WINS',
    base: null,
  });
  const dry = await refusal(engine.merge(caller, { ...merge, dryRun: true }));
  expect(dry.code).toBe('ConstraintViolated');
  expect((await refusal(engine.merge(caller, merge))).code).toBe('ConstraintViolated');
  await change(session, id, { mode: 'warn' });
  await session.tell('adult(ann)', { scope: 'main' });
  await change(session, id, { mode: 'reject' });
  await engine.fork(caller, forkInputSchema.parse({ source: 'main', target: 'copy' }));
  expect(await instances(session)).toEqual([
    'copy: adult(ann), age(ann, 12), 12 < 18',
    'main: adult(ann), age(ann, 12), 12 < 18',
  ]);
});

test('a violation that begins by the clock is listed and refuses nothing', async () => {
  const session = await openSession();
  await constrain(session, '!- open(?x), not guarded(?x)');
  await session.tell('guarded(gate)', { validUntil: startTime + 10 * second });
  await session.tell('open(gate)');
  session.clock.set(startTime + 20 * second);
  expect(await instances(session)).toEqual(['open(gate), not guarded(gate)']);
  await session.tell('open(gate)', { metadata: { seen: true } });
  expect((await refusal(session.tell('open(door)'))).code).toBe('ConstraintViolated');
});

// Its limit is ten seconds of processor time.
test.runIf(process.env['LONG'] === '1')(
  'a check that exceeds its limits is refused, and nothing is stored',
  async () => {
    const session = await openSession();
    await session.teach('n(?y) :- n(?x), ?y = ?x + 1');
    await constrain(session, '!- n(?x), stop(?x)', { scope: 's' });
    await session.tell('stop(-1)', { scope: 's' });
    const error = await refusal(session.tell('n(0)', { scope: 's' }));
    expect(error.code).toBe('InferenceLimitExceeded');
    expect(error.message).toContain('nothing was stored');
    expect((await session.query('n(?x)')).length).toBe(0);
  },
  60_000,
);

test('changes, keeps and deletes constraints', async () => {
  const session = await openSession();
  const { id, constraint } = await constrain(session, '!- p(?x), q(?x)', { name: 'apart' });
  expect(constraint).toBe('!- p(?x), q(?x)');
  expect((await change(session, id, { name: 'apart' })).status).toBe('unchanged');
  expect((await change(session, id, { description: 'why' })).status).toBe('updated');
  await session.tell('p(a)');
  await session.tell('q(b)');
  const wider = await refusal(change(session, id, { text: '!- p(?x), q(?y)' }));
  expect(wider.code).toBe('ConstraintViolated');
  expect(await session.engine.constraints(session.caller)).toMatchObject([
    { id, text: '!- p(?x), q(?x)', name: 'apart', description: 'why', mode: 'reject', scope: null },
  ]);
  await session.engine.deleteConstraint(session.caller, id);
  await session.tell('q(a)');
  expect((await refusal(change(session, id, { name: 'gone' }))).code).toBe('NotFound');
  expect((await refusal(session.engine.deleteConstraint(session.caller, id))).code).toBe('NotFound');
  expect((await refusal(listed(session, { constraint: id }))).code).toBe('NotFound');
});

test('refuses an unsafe body and a text that is no constraint', async () => {
  const session = await openSession();
  expect((await refusal(constrain(session, '!- not p(?x)'))).code).toBe('RuleException');
  const syntax = await refusal(constrain(session, 'p(a)'));
  expect(syntax.code).toBe('ValidationException');
  expect(syntax.message).toContain('line 1, column 1');
});

test('a refused write leaves later writes and questions as they were', async () => {
  const session = await openSession();
  await session.teach('grown(?x) :- adult(?x)');
  await constrain(session, adults.replace('adult', 'grown'));
  await session.tell('age(ann, 12)');
  expect(await session.results('grown(?x)')).toEqual([]);
  await refusal(session.tell('adult(ann)'));
  expect(await session.results('grown(?x)')).toEqual([]);
  await session.tell('adult(bob)');
  expect(await session.results('grown(?x)')).toEqual(['grown(bob)']);
  await refusal(session.engine.teach(session.caller, ruleInput({ text: 'grown(?x) :- age(?x, ?_)' })));
  expect(await session.results('grown(?x)')).toEqual(['grown(bob)']);
});

/** A person lives in one city at a time: telling another one ends the validity of the first. */
async function declareHome({ engine, caller }: Session): Promise<void> {
  await engine.declare(caller, {
    name: 'lives_in',
    arity: 2,
    ...declarationInputSchema.parse({
      arguments: [{ name: 'person' }, { name: 'city' }],
      key: ['person'],
      onConflict: 'supersede',
    }),
  });
}

test('judges the end of a fact that another one supersedes by its key', async () => {
  const session = await openSession();
  await declareHome(session);
  await session.tell('lives_in(ann, york)');
  await session.tell('guards(ann)');
  await constrain(session, '!- guards(?x), not lives_in(?x, york)');
  const { code, members } = await refusal(session.tell('lives_in(ann, rome)'));
  expect([code, members['violationCount']]).toEqual(['ConstraintViolated', 1]);
  expect(await session.results('lives_in(ann, ?c)')).toEqual(['lives_in(ann, york)']);
  await session.tell('lives_in(bob, york)');
  await session.tell('lives_in(bob, rome)');
});

test('refuses nothing for a fact that the written one supersedes, nor for one that a later one of its request does', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  await declareHome(session);
  await constrain(session, '!- lives_in(?x, york), lives_in(?x, rome)');
  await constrain(session, '!- lives_in(?x, oslo), not guest(?x)');
  await session.tell('lives_in(ann, york)');
  await session.tell('lives_in(ann, rome)');
  const homes = ['oslo', 'york'].map((city) => factInput(`lives_in(bob, ${city})`));
  await engine.tellAll(caller, homes);
  expect(await session.results('lives_in(bob, ?c)')).toEqual(['lives_in(bob, york)']);
  const { code } = await refusal(engine.tellAll(caller, homes.toReversed()));
  expect(code).toBe('ConstraintViolated');
});

test('refuses to merge entities where their facts together are forbidden', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  await session.tell('guards(ann)');
  await session.tell('guest(anna)');
  await constrain(session, '!- guards(?x), guest(?x)');
  for (const dryRun of [true, false]) {
    const merge = mergeEntitiesInputSchema.parse({ from: 'anna', into: 'ann', dryRun });
    const { code } = await refusal(engine.mergeEntities(caller, merge));
    expect(code).toBe('ConstraintViolated');
  }
  expect(await session.results('guest(?x)')).toEqual(['guest(anna)']);
});

test('writes of a few facts under a rejecting key and beside constraints share syncs', async () => {
  const memory = memoryBackend();
  let syncing = Promise.resolve();
  const backend: MemoryBackend = {
    ...memory,
    create: async (name) => {
      const file = await memory.create(name);
      return { ...file, sync: () => syncing.then(() => file.sync()) };
    },
  };
  const clock = new ManualClock(startTime);
  const { engine } = await openEngineOn(backend, null, { clock });
  onTestFinished(() => engine.close());
  const session = sessionOf(engine, clock, testCaller());
  const { caller } = session;
  const declared = declarationInputSchema.parse({
    arguments: [{ name: 'badge' }, { name: 'of' }],
    key: ['badge'],
    onConflict: 'reject',
  });
  await engine.declare(caller, { ...declared, name: 'badge', arity: 2 });
  await constrain(session, '!- seat(?p, ?s), broken(?s)');
  await session.tell('broken(s7)');
  for (const predicate of ['badge', 'seat']) {
    const before = engine.counters().commits;
    let release = (): void => {};
    syncing = new Promise((resolve) => {
      release = resolve;
    });
    const tell = (at: number): Promise<unknown> =>
      session.tellAll([`${predicate}(x${at}, a${at})`, `${predicate}(y${at}, b${at})`]);
    const first = tell(10);
    await expect.poll(() => engine.figures().logWaitingBytes).toBeGreaterThan(0);
    const bytes = engine.figures().logWaitingBytes;
    const others = [11, 12, 13, 14, 15, 16].map(tell);
    // If each had to wait for the one before, they would not get here until that is synced.
    await expect.poll(() => engine.figures().logWaitingBytes).toBeGreaterThan(6 * bytes);
    release();
    await Promise.all([first, ...others]);
    expect(engine.counters().commits - before).toBe(2);
  }
  // Those that contradict each other do not, and one of them is refused.
  const rivals = await Promise.allSettled([
    session.tellAll(['badge(z, one)', 'badge(w, one)']),
    session.tellAll(['badge(v, two)', 'badge(z, two)']),
  ]);
  expect(rivals.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect((await refusal(session.tellAll(['seat(a, s1)', 'seat(b, s7)']))).code).toBe('ConstraintViolated');
});
