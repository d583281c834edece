import { expect, it } from 'vitest';
import {
  packageInputSchema,
  type PackageOutcome,
  packageQuerySchema,
  packageRemovalSchema,
} from '../contract/packages.ts';
import { forgetEntitySchema, historyQuerySchema, revertInputSchema } from '../contract/history.ts';
import { memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import {
  factInput,
  type Fields,
  openSession,
  refusal,
  type Session,
  sessionOf,
} from '../testing/engine-fixtures.ts';

/** Packages: knowledge from files, applied under a name (contract section 18). */

function apply(session: Session, text: string, fields: Fields = {}): Promise<PackageOutcome> {
  const { name = 'family', ...rest } = fields;
  const input = packageInputSchema.parse({ text, timeoutMs: 600_000, ...rest });
  return session.engine.applyPackage(session.caller, { name: String(name), ...input });
}

function remove({ engine, caller }: Session, name = 'family', dryRun = false): Promise<PackageOutcome> {
  const query = packageRemovalSchema.parse({ dryRun: String(dryRun), timeoutMs: '600000' });
  return engine.deletePackage(caller, { name, ...query });
}

function detail({ engine, caller }: Session, name = 'family') {
  return engine.packageDetail(caller, { name, ...packageQuerySchema.parse({}) });
}

/** `+` and `-` lines of an answer, with the counts that are not zero. */
function told({ status, facts, rules, declarations, constraints, kept }: PackageOutcome): string[] {
  const lists = [facts, rules, declarations, constraints];
  return [
    status,
    ...lists.flatMap(({ listed }) => [
      ...listed.added.map((text) => `+ ${text}`),
      ...listed.removed.map((text) => `- ${text}`),
      ...listed.changed.map((text) => `~ ${text}`),
    ]),
    ...kept.map(({ text, reason }) => `kept ${text}: ${reason}`),
  ];
}

async function stored(session: Session): Promise<string[]> {
  const { facts } = await session.list();
  return facts.map(({ predicate, args }) => `${predicate}(${args.join(', ')})`).sort();
}

const family = `
% who belongs to whom
:declare parent(parent: entity, child: entity) "a parent"
parent(ann, bob).
parent(bob, carl).
ancestor(?x, ?y) :- parent(?x, ?y).
ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z).
!- parent(?x, ?x) "nobody is their own parent".
`;

it('stores what a package states in one generation, and says what follows', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  const tried = await apply(session, family, { dryRun: true });
  expect(tried).toMatchObject({ status: 'applied', generation: 0, gained: 3, lost: 0, dryRun: true });
  expect([tried.conclusions.gained.length, tried.conclusions.lost]).toEqual([3, []]);
  expect(await stored(session)).toEqual([]);
  const applied = await apply(session, family);
  const { dryRun: _, ...same } = tried;
  expect(applied).toEqual({ ...same, generation: 1 });
  expect(told(applied)).toEqual([
    'applied',
    '+ parent(ann, bob)',
    '+ parent(bob, carl)',
    '+ ancestor(?x, ?y) :- parent(?x, ?y)',
    '+ ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z)',
    '+ :declare parent(parent: entity, child: entity) "a parent"',
    '+ !- parent(?x, ?x) "nobody is their own parent"',
  ]);
  expect(await session.results('ancestor(ann, ?x)')).toEqual(['ancestor(ann, bob)', 'ancestor(ann, carl)']);
  expect((await engine.constraints(caller))[0]).toMatchObject({
    name: 'nobody is their own parent',
    mode: 'warn',
  });
  expect(await apply(session, family)).toMatchObject({
    status: 'unchanged',
    facts: { added: 0, removed: 0, kept: 2 },
    rules: { kept: 2 },
    declarations: { kept: 1 },
    constraints: { kept: 1 },
    generation: 1,
  });
  expect((await engine.packages(caller, null)).packages).toMatchObject([
    {
      name: 'family',
      scope: null,
      generation: 1,
      counts: { facts: 2, rules: 2, declarations: 1, constraints: 1 },
    },
  ]);
});

it('takes away what the text no longer states, and what follows from it', async () => {
  const session = await openSession();
  await apply(session, family);
  const next = family
    .replace('parent(bob, carl).\n', '')
    .replace(/^!-.*\n/m, '')
    .replace('"a parent"', '');
  const after = await apply(session, next);
  expect(told(after)).toEqual([
    'applied',
    '- parent(bob, carl)',
    '~ :declare parent(parent: entity, child: entity)',
    '- !- parent(?x, ?x) "nobody is their own parent"',
  ]);
  expect(after).toMatchObject({ gained: 0, lost: 2, generation: 2 });
  const gone = await remove(session, 'family', true);
  expect(gone).toMatchObject({ status: 'deleted', dryRun: true, lost: 1 });
  expect(await remove(session)).toEqual({ ...gone, dryRun: undefined, generation: 3 });
  expect(await stored(session)).toEqual([]);
  expect((await refusal(remove(session))).code).toBe('NotFound');
  expect((await refusal(detail(session))).code).toBe('NotFound');
});

it('leaves what was there before it came', async () => {
  const session = await openSession();
  await session.tell('parent(ann, bob)');
  const { id } = await session.teach('ancestor(?a, ?b) :- parent(?a, ?b)');
  const { facts, rules } = await apply(session, family);
  expect([facts.added, facts.kept, rules.added, rules.kept]).toEqual([1, 1, 1, 1]);
  await remove(session);
  expect(await stored(session)).toEqual(['parent(ann, bob)']);
  expect((await session.engine.rules(session.caller)).map((rule) => rule.id)).toEqual([id]);
});

it('keeps what somebody changed since, and says so once', async () => {
  const session = await openSession();
  await apply(session, family);
  await session.tell('parent(ann, bob)', { metadata: { source: 'the register' } });
  await session.forget('parent(bob, carl)');
  await session.tell('parent(bob, carl)');
  const [rule] = await session.engine.rules(session.caller);
  await session.changeRule(rule?.id ?? '', { description: 'direct' });
  // What it still states is no reason to say anything.
  expect(told(await apply(session, family))).toEqual(['unchanged']);
  const states = await detail(session);
  expect(states.facts.map(({ atom, state }) => `${atom} ${state}`)).toEqual([
    'parent(ann, bob) changed',
    'parent(bob, carl) changed',
  ]);
  expect(states.rules.map(({ state }) => state)).toEqual(['changed', 'held']);
  const kept = [
    'kept parent(ann, bob): it was changed in generation 2',
    'kept parent(bob, carl): it was retracted, and asserted again in generation 4',
    'kept ancestor(?x, ?y) :- parent(?x, ?y): it was changed in generation 5',
  ];
  expect(told(await apply(session, '', { dryRun: true }))).toEqual(expect.arrayContaining(kept));
  const emptied = await apply(session, '');
  expect(told(emptied).filter((line) => line.startsWith('kept'))).toEqual(kept);
  expect(emptied).toMatchObject({ keptCount: 3, facts: { removed: 0 }, rules: { removed: 1 } });
  expect(told(await apply(session, ''))).toEqual(['unchanged']);
  expect(await stored(session)).toEqual(['parent(ann, bob)', 'parent(bob, carl)']);
});

it('brings back what somebody retracted, which is its own again', async () => {
  const session = await openSession();
  await apply(session, family);
  await session.forget('parent(bob, carl)');
  expect((await detail(session)).facts.map(({ state }) => state)).toEqual(['held', 'gone']);
  expect(told(await apply(session, family))).toEqual(['applied', '+ parent(bob, carl)']);
  expect(told(await apply(session, 'parent(ann, bob).'))).toContain('- parent(bob, carl)');
});

it('leaves what two packages brought until both are without it, also rules of another tenant', async () => {
  const session = await openSession();
  const other = session.as({ tenant: 'other' });
  await apply(session, family);
  await apply(session, family, { name: 'second' });
  await apply(other, family);
  const first = await remove(session);
  expect(told(first)).toContain('kept parent(ann, bob): another package holds it too');
  expect(first).toMatchObject({ keptCount: 6, facts: { removed: 0 }, rules: { removed: 0 } });
  const second = await remove(session, 'second');
  expect(second).toMatchObject({ keptCount: 4, facts: { removed: 2 }, rules: { removed: 0 } });
  expect(await stored(other)).toEqual(['parent(ann, bob)', 'parent(bob, carl)']);
  expect(await remove(other)).toMatchObject({
    keptCount: 0,
    rules: { removed: 2 },
    constraints: { removed: 1 },
  });
});

it('moves with its scope', async () => {
  const session = await openSession();
  await apply(session, family, { scope: 'draft' });
  expect(await session.results('ancestor(ann, ?x)', { scope: 'draft' })).toHaveLength(2);
  const moved = await apply(session, family);
  expect(moved).toMatchObject({ facts: { added: 2, removed: 2 }, rules: { added: 2, removed: 2 } });
  expect(await session.results('ancestor(ann, ?x)', { scope: 'draft' })).toEqual([]);
});

it('refuses errors with file, line and column, and stores nothing', async () => {
  const session = await openSession();
  const files = [
    { path: 'good.kb', text: 'p(a).' },
    { path: 'sub/bad.kb', text: 'q(b).\nr(c\np(d).\n  :declare p(x: nonsense)' },
  ];
  const error = await refusal(apply(session, '', { text: null, files }));
  expect(error.code).toBe('ValidationException');
  expect(error.members.errors?.map(({ path }) => path)).toEqual(
    error.members.errors?.map(() => 'files.1.text'),
  );
  expect(error.members.errors?.[0]?.message).toContain('sub/bad.kb, line 2, column 4');
  const named = await refusal(apply(session, 'p{who: a}.'));
  expect(named.message).toContain('line 1, column');
  const unsafe = await refusal(apply(session, 'p(a).\nq(?x) :- not p(?x).'));
  expect([unsafe.code, unsafe.message.slice(0, 16)]).toEqual(['RuleException', 'line 2, column 1']);
  expect(await stored(session)).toEqual([]);
  expect((await session.engine.packages(session.caller, null)).packages).toEqual([]);
});

it('reads arguments by the names that another file declares, and leaves tests out', async () => {
  const session = await openSession();
  const files = [
    { path: 'a.kb', text: 'lives_in{city: oslo, person: ann}. test "one" { expect lives_in(ann, oslo). }' },
    { path: 'b.kb', text: ':declare lives_in(person: entity, city: entity)' },
  ];
  expect(told(await apply(session, '', { text: null, files }))).toContain('+ lives_in(ann, oslo)');
});

it('counts a fact that is stated twice once', async () => {
  const session = await openSession();
  expect(await apply(session, 'p(a). p(a). q(?x) :- p(?x). q(?y) :- p(?y).')).toMatchObject({
    facts: { added: 1 },
    rules: { added: 1 },
  });
});

it('refuses facts that its own key, or a stored fact, forbids', async () => {
  const session = await openSession();
  const declared = (mode: string) => `:declare lives_in(person, city) key person on conflict ${mode}\n`;
  const both = 'lives_in(ann, rome).\nlives_in(ann, oslo).';
  for (const mode of ['reject', 'supersede']) {
    const error = await refusal(apply(session, declared(mode) + both));
    expect([error.code, error.message]).toEqual([
      'KeyConflict',
      'line 3, column 1: lives_in(ann, oslo) has the same key as lives_in(ann, rome) at line 2, column 1: leave one of them out',
    ]);
  }
  await apply(session, declared('warn') + both);
  await remove(session);
  await session.tell('lives_in(ann, paris)');
  const refused = await refusal(apply(session, `${declared('reject')}lives_in(ann, rome).`));
  expect([refused.code, refused.message.slice(0, 17)]).toEqual(['KeyConflict', 'line 2, column 1:']);
  const text = `${declared('supersede')}lives_in(ann, rome).`;
  const tried = await apply(session, text, { dryRun: true });
  expect(told(tried)).toContain('~ lives_in(ann, paris)');
  session.clock.advance(1000);
  expect(told(await apply(session, text))).toEqual(told(tried));
  expect(told(await apply(session, text))).toEqual(['unchanged']);
  expect(await session.results('lives_in(ann, ?where)')).toEqual(['lives_in(ann, rome)']);
});

it('refuses rules that cannot be stratified with those of the service, and changes nothing', async () => {
  const session = await openSession();
  await session.teach('a(?x) :- p(?x), not b(?x)');
  const error = await refusal(apply(session, 'p(one).\nb(?x) :- a(?x).'));
  expect([error.code, error.message.slice(0, 16)]).toEqual(['RuleException', 'line 2, column 1']);
  expect(await stored(session)).toEqual([]);
});

it('is refused by a constraint that refuses writes', async () => {
  const session = await openSession();
  await session.engine.addConstraint(session.caller, {
    text: '!- p(?x), q(?x)',
    name: 'not both',
    description: null,
    mode: 'reject',
    scope: null,
    dryRun: false,
    timeoutMs: 600_000,
  });
  for (const dryRun of [true, false])
    expect((await refusal(apply(session, 'p(a). q(a).', { dryRun }))).code).toBe('ConstraintViolated');
  expect(await stored(session)).toEqual([]);
});

it('needs the right to change rules if the package has some, or had', async () => {
  const session = await openSession();
  const limited = session.as({ role: 'writer', tenants: ['tenant'] });
  expect((await refusal(apply(limited, family))).code).toBe('Forbidden');
  expect(await apply(limited, 'p(a).')).toMatchObject({ status: 'applied' });
  await apply(session, 'p(a). q(?x) :- p(?x).');
  expect((await refusal(apply(limited, 'p(a).'))).code).toBe('Forbidden');
  expect((await refusal(remove(limited))).code).toBe('Forbidden');
});

it('applies one of two that come at once after the other', async () => {
  const session = await openSession();
  const texts = ['p(a). p(b). s(?x) :- p(?x).', 'p(b). p(c). t(?x) :- p(?x).'];
  await Promise.all(texts.map((text) => apply(session, text)));
  expect(await stored(session)).toEqual(['p(b)', 'p(c)']);
  expect((await session.engine.rules(session.caller)).map(({ text }) => text)).toEqual(['t(?x) :- p(?x)']);
});

it('is one after the other with a write to what it states, whenever that comes', async () => {
  const session = await openSession();
  const many = Array.from({ length: 4000 }, (_, at) => `p(${at}).`).join(' ');
  const text = (round: number): string => `${many} r(${round}).`;
  await apply(session, text(0));
  let turns = 0;
  for (let isApplied = false; !isApplied; turns++) {
    const applying = apply(session, text(turns + 1)).then((outcome) => {
      isApplied = true;
      return outcome;
    });
    for (let turn = 0; turn < turns && !isApplied; turn++) await new Promise(setImmediate);
    if (isApplied) break;
    const forgotten = await session.forget('p(7)');
    const applied = await applying;
    isApplied = false;
    const isThere = (await session.results('p(7)')).length === 1;
    expect(isThere, `after ${turns} turns`).toBe(forgotten.generation < applied.generation);
    if (!isThere) await session.tell('p(7)');
  }
  expect(turns).toBeGreaterThan(1);
});

it('makes an open transaction that touched the same fact fail', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  const { id } = await engine.begin(caller);
  await engine
    .within({ ...caller, transaction: id })
    .tell({ ...factInput('p(a)', { metadata: { source: 'me' } }), ifGeneration: null });
  await apply(session, 'p(a).');
  expect((await refusal(engine.commit(caller, id, false))).code).toBe('Conflict');
  expect((await detail(session)).facts.map(({ state }) => state)).toEqual(['held']);
});

it('is shown in the history by name, and reverting it leaves its record', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  await apply(session, family);
  await remove(session);
  const { generations } = await engine.history(caller, historyQuerySchema.parse({}));
  expect(generations.map(({ operation }) => operation)).toEqual(['deletePackage', 'applyPackage']);
  await engine.revert(caller, revertInputSchema.parse({ generation: 2, rules: true }));
  expect(await stored(session)).toEqual(['parent(ann, bob)', 'parent(bob, carl)']);
  expect((await engine.packages(caller, null)).packages).toEqual([]);
});

it('is the same after a crash and from a snapshot, and answers a repeated request alike', async () => {
  const backend = memoryBackend();
  let session = await opened();
  async function opened(): Promise<Session> {
    const base = await openSession();
    const { engine } = await openEngineOn(backend, null, { clock: base.clock });
    return sessionOf(engine, base.clock, base.caller);
  }
  const again = { idempotency: { key: 'k', fingerprint: 'f' } };
  const first = await apply(session.as(again), family);
  await session.forget('parent(ann, bob)');
  await session.tell('parent(ann, bob)');
  const before = await detail(session);
  for (const withSnapshot of [false, true]) {
    if (withSnapshot) await session.engine.snapshot();
    await session.engine.close();
    session = await opened();
    expect(await detail(session)).toEqual(before);
  }
  const { gained, lost, conclusions, ...rest } = first;
  expect([gained, lost, conclusions.gained.length]).toEqual([3, 0, 3]);
  expect(await apply(session.as(again), family)).toEqual({
    ...rest,
    gained: 0,
    lost: 0,
    conclusions: { gained: [], lost: [] },
    consequencesComplete: false,
  });
  expect(told(await apply(session, family))).toEqual(['unchanged']);
  await session.engine.close();
});

it('forgets an entity in what packages hold', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  await apply(session, family);
  await engine.forgetEntity(caller, forgetEntitySchema.parse({ tenant: 'tenant', entity: 'bob' }));
  expect((await detail(session)).facts).toEqual([]);
  const { generations } = await engine.history(caller, historyQuerySchema.parse({}));
  expect(JSON.stringify(generations)).not.toContain('bob');
  await engine.nukeTenant(caller, 'default', 'tenant');
  expect((await engine.packages(caller, null)).packages).toEqual([]);
});
