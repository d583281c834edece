import { expect, test } from 'vitest';
import { whatIfInputSchema, type WhatIfResult } from '../contract/explanation.ts';
import { renderAtom } from '../language/print.ts';
import { parseAtom } from '../language/parse.ts';
import {
  chainOf,
  day,
  type Fields,
  gate,
  hour,
  longest,
  openSession,
  refusal,
  second,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

/** What would follow from other facts and rules: contract section 5, /whatIf. */

/** A fact in the grammar with further fields. */
function fact(text: string, fields: Fields = {}): Fields {
  const { predicate, args, negated } = parseAtom(text);
  return { predicate, args, truthVal: !negated, ...fields };
}

/** A retraction in the grammar: of both truth values unless the text is negated. */
function gone(text: string, fields: Fields = {}): Fields {
  const { predicate, args, negated } = parseAtom(text);
  return { predicate, args, ...(negated ? { truthVal: false } : {}), ...fields };
}

function goals(...texts: string[]): Fields {
  return { goals: texts.map((text) => parseAtom(text)) };
}

async function whatIf({ engine, caller }: Session, fields: Fields): Promise<WhatIfResult['goals']> {
  return (await engine.whatIf(caller, whatIfInputSchema.parse({ ...longest, ...fields }))).goals;
}

async function familySession(): Promise<Session> {
  const session = await openSession();
  await session.tellAll(['parent(alice, bob)', 'parent(bob, carol)']);
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  return session;
}

test('answers a goal before and after, with what is gained and what is lost', async () => {
  const session = await familySession();
  const found = await whatIf(session, {
    assert: [fact('parent(carol, dave)')],
    retract: [gone('parent(alice, bob)')],
    ...goals('grandparent(?x, ?who)', 'parent(bob, ?y)'),
  });
  expect(found).toEqual([
    {
      goal: 'grandparent(?x, ?who)',
      before: ['grandparent(alice, carol)'],
      after: ['grandparent(bob, dave)'],
      gained: ['grandparent(bob, dave)'],
      lost: ['grandparent(alice, carol)'],
    },
    {
      goal: 'parent(bob, ?y)',
      before: ['parent(bob, carol)'],
      after: ['parent(bob, carol)'],
      gained: [],
      lost: [],
    },
  ]);
});

test('reports goals in the given order, repeated ones twice, with their answers by code point', async () => {
  const session = await openSession();
  await session.tellAll(['p(b)', 'p(a)', 'p(é)', 'p(10)', 'p(9)']);
  const found = await whatIf(session, {
    assert: [fact('p(aa)'), fact('p(B)')],
    ...goals('p(?x)', 'p(a)', 'p(?_)', 'p(a)'),
  });
  expect(found.map(({ goal }) => goal)).toEqual(['p(?x)', 'p(a)', 'p(?_)', 'p(a)']);
  const all = ['p(10)', 'p(9)', 'p(B)', 'p(a)', 'p(aa)', 'p(b)', 'p(é)'];
  expect(found.map(({ after }) => after)).toEqual([all, ['p(a)'], all, ['p(a)']]);
  // A supposed fact is true after, but not gained.
  expect(found[0]?.gained).toEqual([]);
});

test('covers without goals every relation that the change can reach, as patterns by code point', async () => {
  const session = await openSession();
  await session.tellAll(['edge(a, b)', 'apart(x)', '-edge(c, d)']);
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
  await session.teach('-closed(?x) :- path(?x, ?_)');
  await session.teach('other(?x) :- apart(?x)');
  const found = await whatIf(session, { assert: [fact('edge(b, c)')] });
  expect(found.map(({ goal }) => goal)).toEqual(['-closed(?x1)', 'edge(?x1, ?x2)', 'path(?x1, ?x2)']);
  expect(found.map(({ gained }) => gained)).toEqual([['-closed(b)'], [], ['path(a, c)', 'path(b, c)']]);
  const without = await whatIf(session, { retract: [gone('edge(c, d)')] });
  expect(without.map(({ goal }) => goal)).toEqual([
    '-closed(?x1)',
    '-edge(?x1, ?x2)',
    'edge(?x1, ?x2)',
    'path(?x1, ?x2)',
  ]);
  expect(without.flatMap(({ lost }) => lost)).toEqual(['-edge(c, d)']);
});

test('leaves out without goals underived relations without stored facts before and after', async () => {
  const session = await openSession();
  await session.teach('q(?x) :- p(?x)');
  expect((await whatIf(session, { retract: [gone('p(a)')] })).map(({ goal }) => goal)).toEqual(['q(?x1)']);
  expect(await whatIf(session, {})).toEqual([]);
  const [only] = await whatIf(session, { assert: [fact('p()')] });
  expect(only).toMatchObject({ goal: 'p()', before: [], after: ['p()'], gained: [], lost: [] });
});

test('computes without goals the reach by the rules before and after the change', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  const { id } = await session.teach('old(?x) :- p(?x)');
  const found = await whatIf(session, {
    withoutRules: [id],
    rules: [{ text: 'new(?x) :- p(?x)' }, { text: 'newer(?x) :- new(?x)' }],
  });
  expect(found).toEqual([
    { goal: 'new(?x1)', before: [], after: ['new(a)'], gained: ['new(a)'], lost: [] },
    { goal: 'newer(?x1)', before: [], after: ['newer(a)'], gained: ['newer(a)'], lost: [] },
    { goal: 'old(?x1)', before: ['old(a)'], after: [], gained: [], lost: ['old(a)'] },
  ]);
});

test('retracts like /retract: every scope and both truth values unless given', async () => {
  const session = await openSession();
  for (const scope of [null, 's', 't'])
    for (const text of ['p(a)', '-p(a)']) await session.tell(text, { scope });
  const after = async (retract: Fields, scope: Fields): Promise<(string | undefined)[]> => {
    const asked = { goals: [fact('p(?x)'), { ...fact('p(?x)'), negated: true }] };
    const found = await whatIf(session, {
      retract: [retract],
      goals: asked.goals.map(({ truthVal: _, ...goal }) => goal),
      ...scope,
    });
    return found.map((goal) => goal.after[0]);
  };
  expect(await after(gone('p(a)'), {})).toEqual([undefined, undefined]);
  expect(await after(gone('p(a)', { truthVal: true }), {})).toEqual([undefined, '-p(a)']);
  expect(await after(gone('p(a)', { scope: 's' }), {})).toEqual(['p(a)', '-p(a)']);
  expect(await after(gone('p(a)', { scope: 's' }), { scope: 's' })).toEqual([undefined, undefined]);
  expect(await after(gone('p(a)', { unscoped: true }), { unscoped: true })).toEqual([undefined, undefined]);
  expect(await after(gone('p(a)', { unscoped: true }), { scope: 't' })).toEqual(['p(a)', '-p(a)']);
});

test('retracts facts before asserting others, so one can replace the other', async () => {
  const session = await openSession();
  await session.tell('p(a)', { validUntil: startTime + day });
  const change = { retract: [gone('p(a)')], assert: [fact('p(a)')], ...goals('p(?x)') };
  expect(await whatIf(session, change)).toMatchObject([{ before: ['p(a)'], after: ['p(a)'], lost: [] }]);
  // It is a new fact then: the old end of validity no longer counts.
  const late = { assert: [fact('p(a)', { validFrom: startTime + 2 * day })], ...goals('p(?x)') };
  expect(await whatIf(session, { ...late, retract: [gone('p(a)')] })).toMatchObject([{ lost: ['p(a)'] }]);
  const { members } = await refusal(whatIf(session, late));
  expect(members.errors).toMatchObject([{ path: 'assert.0.validUntil' }]);
});

test('removes rules before adding others', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'q(b)']);
  const { id } = await session.teach('r(?x) :- p(?x), not s(?x)');
  const instead = { rules: [{ text: 's(?x) :- q(?x), not r(?x)' }], ...goals('r(?x)', 's(?x)') };
  expect(await whatIf(session, { ...instead, withoutRules: [id] })).toMatchObject([
    { lost: ['r(a)'] },
    { gained: ['s(b)'] },
  ]);
  expect(await refusal(whatIf(session, instead))).toMatchObject({ code: 'RuleException' });
});

test('updates a stored fact that is asserted: fields not given are kept', async () => {
  const session = await openSession();
  await session.tell('p(a)', { validUntil: startTime + day });
  await session.tell('p(b)', { validFrom: startTime + day });
  await session.tell('p(c)', { validUntil: startTime - second });
  await session.tell('p(d)', { validFrom: startTime + day });
  const found = await whatIf(session, {
    assert: [fact('p(a)'), fact('p(b)', { validFrom: startTime }), fact('p(c)'), fact('p(d)')],
    ...goals('p(?x)'),
  });
  expect(found).toMatchObject([{ before: ['p(a)'], after: ['p(a)', 'p(b)', 'p(c)'], lost: [] }]);
  const ended = await whatIf(session, {
    assert: [fact('p(a)', { validUntil: startTime })],
    ...goals('p(?x)'),
  });
  expect(ended).toMatchObject([{ before: ['p(a)'], after: [], lost: ['p(a)'] }]);
});

test('does not report a supposed fact as gained, even if rules conclude it too, but reports conclusions elsewhere', async () => {
  const session = await openSession();
  await session.teach('friend(?y, ?x) :- friend(?x, ?y)');
  const both = { assert: [fact('friend(a, b)'), fact('friend(b, a)')] };
  expect(await whatIf(session, both)).toMatchObject([
    { after: ['friend(a, b)', 'friend(b, a)'], gained: [] },
  ]);
  expect(await whatIf(session, { assert: [fact('friend(a, b)')] })).toMatchObject([
    { after: ['friend(a, b)', 'friend(b, a)'], gained: ['friend(b, a)'] },
  ]);
  // In the view of s it is a conclusion: the supposed fact is another one.
  await session.teach('q(?x) :- p(?x)');
  const apart = { assert: [fact('p(a)', { scope: 's' }), fact('q(a)', { scope: 't' })], ...goals('q(?x)') };
  expect(await whatIf(session, { ...apart, scope: 's' })).toMatchObject([{ gained: ['q(a)'] }]);
  expect(await whatIf(session, { ...apart, scope: 't' })).toMatchObject([{ after: ['q(a)'], gained: [] }]);
});

test('lets the later of two assertions of one fact update the earlier', async () => {
  const session = await openSession();
  const twice = [fact('p(a)', { validFrom: startTime + hour }), fact('p(a)', { validFrom: 'always' })];
  expect(await whatIf(session, { assert: twice, ...goals('p(a)') })).toMatchObject([{ after: ['p(a)'] }]);
  const swapped = [twice[1], twice[0]];
  expect(await whatIf(session, { assert: swapped, ...goals('p(a)') })).toMatchObject([{ after: [] }]);
});

test('counts a fact at the time of the question: ttl runs from now, and a future fact is invisible', async () => {
  const session = await openSession();
  const found = await whatIf(session, {
    assert: [
      fact('p(now)', { ttl: 1 }),
      fact('p(later)', { validFrom: startTime + 1 }),
      fact('p(past)', { validUntil: startTime }),
      fact('p(within)', { validFrom: startTime, validUntil: startTime + 1 }),
    ],
    ...goals('p(?x)'),
  });
  expect(found[0]?.after).toEqual(['p(now)', 'p(within)']);
});

test('applies the scope to goals; a fact and a rule have their own', async () => {
  const session = await openSession();
  await session.tell('p(a)', { scope: 's' });
  await session.teach('q(?x) :- p(?x)');
  const change = {
    assert: [fact('p(b)', { scope: 's' }), fact('p(c)'), fact('p(d)', { scope: 'unheard of' })],
    rules: [{ text: 'r(?x) :- q(?x)', scope: 's' }],
    ...goals('q(?x)', 'r(?x)'),
  };
  const gained = async (fields: Fields): Promise<string[]> =>
    (await whatIf(session, { ...change, ...fields })).flatMap((goal) => goal.gained);
  expect(await gained({})).toEqual(['q(b)', 'q(c)', 'q(d)', 'r(a)', 'r(b)']);
  expect(await gained({ scope: 's' })).toEqual(['q(b)', 'r(a)', 'r(b)']);
  expect(await gained({ scope: 'unheard of' })).toEqual(['q(d)']);
  expect(await gained({ unscoped: true })).toEqual(['q(c)']);
  expect(await gained({ scope: 'not there' })).toEqual([]);
});

test('follows negation, default negation, aggregates and arithmetic', async () => {
  const session = await openSession();
  await session.tellAll(['item(a, 2)', 'item(b, 3)', 'bird(tux)', 'bird(robin)']);
  await session.teach('total(?s) :- ?s = sum { ?v, ?i : item(?i, ?v) }');
  await session.teach('double(?d) :- total(?s), ?d = ?s * 2');
  await session.teach('flies(?x) :- bird(?x), not -flies(?x)');
  const found = await whatIf(session, {
    assert: [fact('item(c, 1000)'), fact('-flies(tux)')],
    ...goals('double(?x)', 'flies(?x)', 'total(?x)', 'double(2010)'),
  });
  expect(found.map(({ gained, lost }) => ({ gained, lost }))).toEqual([
    { gained: ['double(2010)'], lost: ['double(10)'] },
    { gained: [], lost: ['flies(tux)'] },
    { gained: ['total(1005)'], lost: ['total(5)'] },
    { gained: ['double(2010)'], lost: [] },
  ]);
});

test('follows a change through recursion, with an argument bound and without', async () => {
  const session = await openSession();
  await session.tellAll(chainOf(6));
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
  const change = { retract: [gone('edge(n2, n3)')], assert: [fact('edge(n1, n5)')] };
  const [bound, free] = await whatIf(session, { ...change, ...goals('path(n0, ?y)', 'path(?x, ?y)') });
  expect(bound?.after).toEqual(['path(n0, n1)', 'path(n0, n2)', 'path(n0, n5)', 'path(n0, n6)']);
  expect(bound?.lost).toEqual(['path(n0, n3)', 'path(n0, n4)']);
  expect(free?.before).toHaveLength(21);
  expect(free?.lost).toEqual([
    'path(n0, n3)',
    'path(n0, n4)',
    'path(n1, n3)',
    'path(n1, n4)',
    'path(n2, n3)',
    'path(n2, n4)',
    'path(n2, n5)',
    'path(n2, n6)',
  ]);
});

test('changes nothing by teaching a rule again, and enables a disabled one on request', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await session.teach('q(?x) :- p(?x)', { enabled: false });
  const again = { text: 'q(?y) :- p(?y)' };
  expect(await whatIf(session, { rules: [again], ...goals('q(?x)') })).toMatchObject([{ after: [] }]);
  const enabled = [{ ...again, enabled: true }];
  expect(await whatIf(session, { rules: enabled, ...goals('q(?x)') })).toMatchObject([{ after: ['q(a)'] }]);
});

test('returns and accepts constants that occur only in a rule of the change', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  const found = await whatIf(session, {
    rules: [{ text: 'kind(?x, brand-new) :- p(?x)' }],
    ...goals('kind(?x, brand-new)', 'kind(a, other)', 'kind(?x, ?y)'),
  });
  expect(found.map(({ after }) => after)).toEqual([['kind(a, brand-new)'], [], ['kind(a, brand-new)']]);
});

test('changes nothing: no fact, rule, generation, use, count or known conclusion', async () => {
  const session = await familySession();
  const { engine, caller, clock } = session;
  await session.results('grandparent(alice, ?x)');
  const listing = await session.list();
  const id = listing.facts[0]?.id as string;
  const look = async (): Promise<unknown> => ({
    list: await session.list(),
    fact: await engine.fact(caller, id),
    rules: await engine.rules(caller),
    predicates: await engine.predicates(caller),
    counters: engine.counters(),
    generation: (await session.ask('parent(nobody, ?x)')).generation,
  });
  const before = await look();
  const changes: string[] = [];
  engine.subscribe((change) => changes.push(change.kind));
  await whatIf(session, {
    assert: [fact('parent(carol, dave)'), fact('parent(alice, bob)', { metadata: { a: 1 }, scope: 's' })],
    retract: [gone('parent(alice, bob)')],
    rules: [{ text: 'ancestor(?x, ?y) :- parent(?x, ?y)' }],
    withoutRules: [(await engine.rules(caller))[0]?.id],
  });
  clock.set(startTime);
  expect(await look()).toEqual(before);
  expect(changes).toEqual([]);
  expect(await session.forget('parent(alice, bob)')).toMatchObject({
    generation: 3,
    dependents: ['grandparent(alice, carol)'],
  });
});

test('accepts an empty tenant, and leaves it empty', async () => {
  const { as, engine, caller } = await openSession();
  const fresh = as({ tenant: 'fresh' });
  expect(await whatIf(fresh, { assert: [fact('p(a)')] })).toMatchObject([{ after: ['p(a)'] }]);
  expect(await fresh.list()).toMatchObject({ total: 0 });
  expect((await engine.databases(caller)).databases).toMatchObject([{ tenants: 0 }]);
});

test('returns 404 for an unknown rule, and for one of another database', async () => {
  const session = await familySession();
  expect(await refusal(whatIf(session, { withoutRules: ['r99'] }))).toMatchObject({
    code: 'RuleNotFound',
    message: expect.stringContaining('r99') as string,
  });
});

test('checks a rule like teach: its syntax, its safety, and its fit with the others', async () => {
  const session = await openSession();
  await session.teach('p(?x) :- q(?x), not r(?x)');
  const refused = (...rules: Fields[]) => refusal(whatIf(session, { rules, ...goals('p(?x)') }));
  const syntax = await refused({ text: 'a(?x) :- b(?x)' }, { text: 'a(?x) :- b(?x' });
  expect(syntax).toMatchObject({
    code: 'ValidationException',
    members: { errors: [{ path: 'rules.1.text' }] },
  });
  const unsafe = await refused({ text: 'a(?x) :- b(?y)' });
  expect(unsafe).toMatchObject({
    code: 'RuleException',
    members: { variables: ['?x'], errors: [{ path: 'rules.0.head' }] },
  });
  const cycle = await refused({ text: 'r(?x) :- s(?x)' }, { text: 's(?x) :- q(?x), p(?x)' });
  expect(cycle).toMatchObject({ code: 'RuleException', message: expect.stringContaining('p/1') as string });
  const malformed = await refused({
    head: { predicate: 'a', args: ['?x'] },
    body: [
      { predicate: 'b', args: ['?x'] },
      { predicate: '<', args: ['?x'] },
    ],
  });
  expect(malformed).toMatchObject({ members: { errors: [{ path: 'rules.0.body.1' }] } });
});

test('rejects a validity that ends before it begins, with its path', async () => {
  const session = await openSession();
  const reversed = fact('p(b)', { validFrom: startTime + 1, validUntil: startTime });
  const { code, members } = await refusal(whatIf(session, { assert: [fact('p(a)'), reversed] }));
  expect(code).toBe('ValidationException');
  expect(members.errors).toMatchObject([{ path: 'assert.1.validUntil' }]);
});

test('ends an endless answer at its limit, and affects no other question', async () => {
  const session = await openSession();
  await session.tell('n(1)');
  const endless = {
    rules: [{ text: 'n(?y) :- n(?x), ?y = ?x + 1' }],
    ...goals('n(?x)'),
    maxDerivations: 10_000,
  };
  expect(await refusal(whatIf(session, endless))).toMatchObject({
    code: 'InferenceLimitExceeded',
    members: { limit: 'maxDerivations' },
  });
  expect(await refusal(whatIf(session, { ...endless, maxDerivations: 1e9, timeoutMs: 20 }))).toMatchObject({
    members: { limit: 'timeoutMs' },
  });
  expect(await session.results('n(?x)')).toEqual(['n(1)']);
});

test('is cancelled when its client disconnects', async () => {
  const held = gate();
  const session = await openSession({ pause: held.pause });
  await session.tell('n(1)');
  const controller = new AbortController();
  const leaving = session.as({ signal: controller.signal });
  const reached = held.hold();
  const endless = {
    rules: [{ text: 'n(?y) :- n(?x), ?y = ?x + 1' }],
    ...goals('n(?x)'),
    maxDerivations: 1e9,
  };
  const asked = whatIf(leaving, endless).catch((error: unknown) => error);
  await reached;
  controller.abort();
  held.release();
  expect(await asked).toMatchObject({ name: 'AbortError' });
});

test('reads one state, whatever is written meanwhile', async () => {
  const held = gate();
  const session = await openSession({ pause: held.pause });
  await session.tellAll(chainOf(400));
  const { id } = await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
  const reached = held.hold();
  const asked = whatIf(session, {
    assert: [fact('edge(n400, n401)')],
    ...goals('path(?x, ?y)', 'path(n0, n401)', 'path(n0, n400)'),
  });
  await reached;
  await session.forget('edge(n0, n1)');
  await session.tell('edge(n400, n0)');
  await session.engine.forgetRule(session.caller, id);
  held.release();
  const [all, gained, kept] = await asked;
  expect(all?.before).toHaveLength((400 * 401) / 2);
  expect(all?.gained).toHaveLength(401);
  expect(gained).toMatchObject({ before: [], after: ['path(n0, n401)'] });
  expect(kept).toMatchObject({ before: ['path(n0, n400)'], lost: [] });
});

test('uses shared tables without changing them', async () => {
  const session = await openSession();
  await session.tellAll(chainOf(20));
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
  const all = await session.results('path(?x, ?y)');
  const change = { retract: [gone('edge(n10, n11)')], ...goals('path(?x, ?y)') };
  const [found] = await whatIf(session, change);
  expect(found?.before).toEqual(all);
  expect(found?.lost).toHaveLength(11 * 10);
  expect(await session.results('path(?x, ?y)')).toEqual(all);
});

test('handles odd constants', async () => {
  const session = await openSession();
  for (const constant of ['', ' ', 'a, b', '\u{1F600}', '"', '\ufeffx', 'x'.repeat(10_000)]) {
    const asserted = { predicate: 'p', args: [constant] };
    const [found] = await whatIf(session, { assert: [asserted], ...goals('p(?x)') });
    expect(found?.after).toEqual([renderAtom({ ...asserted, negated: false })]);
  }
});

test('closes a cycle of stored facts by a supposed one, and opens it by a supposed retraction', async () => {
  const session = await openSession();
  await session.tellAll(['edge(a, b)', 'edge(b, c)', 'edge(d, e)', 'edge(e, f)', 'edge(f, d)', 'edge(d, a)']);
  await session.teach('triangle(?x) :- edge(?x, ?y), edge(?y, ?z), edge(?z, ?x)');
  const [found] = await whatIf(session, {
    assert: [fact('edge(c, a)')],
    retract: [gone('edge(e, f)')],
    ...goals('triangle(?x)'),
  });
  expect(found?.gained).toEqual(['triangle(a)', 'triangle(b)', 'triangle(c)']);
  expect(found?.lost).toEqual(['triangle(d)', 'triangle(e)', 'triangle(f)']);
});
