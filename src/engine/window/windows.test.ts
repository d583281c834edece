import { expect, test } from 'vitest';
import { type ContextWindow, optimizeInputSchema } from '../contract/context.ts';
import type { ContextEntry } from '../contract/memory.ts';
import { renderAtom } from '../language/print.ts';
import {
  chainOf,
  day,
  type Fields,
  gate,
  hour,
  longest,
  openSession,
  refusal,
  type Session,
  testCaller,
} from '../testing/engine-fixtures.ts';

/** Context windows, sentence by sentence; `window.fuzz.ts` compares them with a model of the whole. */

function windowOf(session: Session, fields: Fields = {}): Promise<ContextWindow> {
  return session.engine.optimizeContext(session.caller, optimizeInputSchema.parse({ ...longest, ...fields }));
}

function goal(predicate: string, ...args: string[]): Fields {
  return { predicate, args };
}

function atomsOf({ entries }: Pick<ContextWindow, 'entries'>): string[] {
  return entries.map(renderAtom);
}

function categoriesOf({ entries }: ContextWindow): Record<string, string> {
  return Object.fromEntries(entries.map((entry) => [renderAtom(entry), entry.category]));
}

function reasonsOf({ omitted = [] }: ContextWindow): Record<string, string> {
  return Object.fromEntries(omitted.map(({ atom, reason }) => [atom, reason]));
}

function entry(window: ContextWindow, atom: string): ContextEntry {
  const found = window.entries.find((each) => renderAtom(each) === atom);
  if (found === undefined) throw new Error(`${atom} is not in the window`);
  return found;
}

/** Facts told a day apart: the last is the most salient. */
async function tellInTime(session: Session, ...atoms: string[]): Promise<void> {
  for (const atom of atoms) {
    await session.tell(atom);
    session.clock.advance(day);
  }
}

async function openFamily(options: Parameters<typeof openSession>[0] = {}): Promise<Session> {
  const session = await openSession(options);
  await session.tellAll([
    'parent(alice, bob)',
    'parent(bob, carol)',
    'parent(carol, dan)',
    'likes(zoe, tea)',
  ]);
  await session.teach('ancestor(?x, ?z) :- parent(?x, ?z)');
  await session.teach('ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)');
  return session;
}

test('contains stored facts without goals', async () => {
  const session = await openFamily();
  const window = await windowOf(session);
  expect(atomsOf(window)).toEqual([
    'likes(zoe, tea)',
    'parent(alice, bob)',
    'parent(bob, carol)',
    'parent(carol, dan)',
  ]);
  expect(window).toMatchObject({ goalDriven: false, totalFactsAvailable: 4, totalFactsIncluded: 4 });
  expect(await windowOf(session, { goals: [] })).toMatchObject({ goalDriven: false });
});

test('adds the derivable conclusions of the relevant predicates with includeInferred', async () => {
  const session = await openFamily();
  await session.teach('liked(?y) :- likes(?x, ?y)');
  const all = await windowOf(session, { includeInferred: true });
  expect(all.totalFactsAvailable).toBe(4 + 6 + 1);
  expect(categoriesOf(all)).toMatchObject({ 'ancestor(alice, dan)': 'inferred', 'liked(tea)': 'inferred' });
  const some = await windowOf(session, { includeInferred: true, predicates: ['liked', 'likes'] });
  expect(atomsOf(some)).toEqual(['liked(tea)', 'likes(zoe, tea)']);
  expect(some.totalFactsAvailable).toBe(1 + 1);
});

test('finds every answer to goals and every premise of its proof by backward chaining', async () => {
  const session = await openFamily();
  const window = await windowOf(session, { goals: [goal('ancestor', 'alice', '?who')] });
  const proofs = window.entries.filter(({ category }) => category === 'goal_relevant');
  expect(proofs.map(renderAtom).sort()).toEqual([
    'ancestor(alice, bob)',
    'ancestor(alice, carol)',
    'ancestor(alice, dan)',
    'ancestor(bob, carol)',
    'ancestor(bob, dan)',
    'ancestor(carol, dan)',
    'parent(alice, bob)',
    'parent(bob, carol)',
    'parent(carol, dan)',
  ]);
  expect(window.goalDriven).toBe(true);
});

test('sets provenance to null for a stored fact and to {rule, premises} for a derived one', async () => {
  const session = await openFamily();
  const window = await windowOf(session, { goals: [goal('ancestor', 'alice', 'carol')] });
  expect(entry(window, 'parent(alice, bob)').provenance).toBeNull();
  expect(entry(window, 'ancestor(alice, carol)').provenance).toEqual({
    rule: 'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)',
    premises: ['parent(alice, bob)', 'ancestor(bob, carol)'],
  });
});

test('puts proofs first, each whole or not at all', async () => {
  const session = await openFamily();
  for (let maxFacts = 1; maxFacts <= 10; maxFacts++) {
    const goals = [goal('ancestor', 'alice', 'dan')];
    const window = await windowOf(session, { goals, maxFacts, proofs: 'whole' });
    const isWhole = maxFacts >= 6;
    expect(atomsOf(window).includes('ancestor(alice, dan)')).toBe(isWhole);
    expect(window.relevantRules).toHaveLength(isWhole ? 2 : 0);
    const count = window.entries.filter(({ category }) => category === 'goal_relevant').length;
    expect(count).toBe(isWhole ? 6 : 0);
    expect(window.entries.slice(0, count).every(({ category }) => category === 'goal_relevant')).toBe(true);
  }
});

test('handles goals in the given order', async () => {
  const session = await openFamily();
  const [first, second] = [goal('likes', 'zoe', '?what'), goal('ancestor', 'alice', 'bob')];
  const fields = { maxFacts: 2 };
  expect(atomsOf(await windowOf(session, { ...fields, goals: [second, first] }))).toEqual([
    'parent(alice, bob)',
    'ancestor(alice, bob)',
  ]);
  const other = await windowOf(session, { ...fields, goals: [first, second] });
  expect(atomsOf(other)[0]).toBe('likes(zoe, tea)');
  expect(atomsOf(other)).not.toContain('ancestor(alice, bob)');
});

test("orders a goal's answers by salience, ties by rendered atom", async () => {
  const session = await openSession();
  await tellInTime(session, 'p(old)', 'p(middle)', 'p(young)');
  await session.tellAll(['p(b)', 'p(a)']);
  const window = await windowOf(session, { goals: [goal('p', '?x')], maxFacts: 4 });
  expect(atomsOf(window)).toEqual(['p(a)', 'p(b)', 'p(young)', 'p(middle)']);
});

test('picks the proof of minimal height for each answer, or else the smallest other proof found that fits', async () => {
  const session = await openSession();
  await session.tellAll(['a(1)', 'b(1)', 'c(1)', 'd(1)', 'e(1)']);
  await session.teach('g(?x) :- a(?x), b(?x), c(?x), d(?x)');
  await session.teach('g(?x) :- m(?x)');
  await session.teach('m(?x) :- e(?x)');
  const goals = [goal('g', '1')];
  const wide = await windowOf(session, { goals, maxFacts: 5 });
  expect(entry(wide, 'g(1)').provenance?.rule).toBe('g(?x) :- a(?x), b(?x), c(?x), d(?x)');
  const narrow = await windowOf(session, { goals, maxFacts: 4 });
  expect(atomsOf(narrow).slice(0, 3)).toEqual(['e(1)', 'm(1)', 'g(1)']);
  expect(entry(narrow, 'g(1)').provenance).toEqual({ rule: 'g(?x) :- m(?x)', premises: ['m(1)'] });
  expect(narrow.relevantRules).toEqual(['g(?x) :- m(?x)', 'm(?x) :- e(?x)']);
  const none = await windowOf(session, { goals, maxFacts: 2, explainOmitted: true });
  expect(atomsOf(none)).toEqual(['a(1)', 'b(1)']);
  expect(reasonsOf(none)).toMatchObject({ 'g(1)': 'budget' });
  const short = await windowOf(session, { goals, maxChars: 12 });
  expect(atomsOf(short)).toEqual(['e(1)', 'm(1)', 'g(1)']);
});

test('charges a proof nothing for what the window has already', async () => {
  const session = await openFamily();
  const goals = [goal('ancestor', 'alice', 'carol'), goal('ancestor', 'bob', 'carol')];
  const window = await windowOf(session, { goals, maxFacts: 4 });
  expect(window.entries.every(({ category }) => category === 'goal_relevant')).toBe(true);
  expect(window.totalFactsIncluded).toBe(4);
});

test('continues with related facts, then the rest by salience, ties by rendered atom', async () => {
  const session = await openSession();
  await tellInTime(
    session,
    'near(bob, x)',
    'far(u)',
    'near(alice, y)',
    'far(v)',
    'far(w)',
    'parent(alice, bob)',
  );
  const window = await windowOf(session, { goals: [goal('parent', '?x', '?y')] });
  expect(categoriesOf(window)).toEqual({
    'parent(alice, bob)': 'goal_relevant',
    'near(alice, y)': 'related',
    'near(bob, x)': 'related',
    'far(w)': 'asserted',
    'far(v)': 'asserted',
    'far(u)': 'asserted',
  });
  expect(atomsOf(window)).toEqual([
    'parent(alice, bob)',
    'near(alice, y)',
    'near(bob, x)',
    'far(w)',
    'far(v)',
    'far(u)',
  ]);
});

test('assigns the first matching category', async () => {
  const session = await openSession();
  await session.tell('old(fact)');
  await session.tell('sum(a, 3)', { metadata: { consolidated: {} }, ttl: 30 * day });
  await session.teach('derived(?x) :- old(?x)');
  session.clock.advance(hour);
  await session.tell('brief(fact2)', { ttl: hour });
  await session.tell('new(fact3)');
  const window = await windowOf(session, { includeInferred: true });
  expect(categoriesOf(window)).toEqual({
    'old(fact)': 'asserted',
    'sum(a, 3)': 'consolidated',
    'derived(fact)': 'inferred',
    'brief(fact2)': 'ephemeral',
    'new(fact3)': 'recent',
  });
  session.clock.advance(5 * 60_000);
  expect(categoriesOf(await windowOf(session))['new(fact3)']).toBe('recent');
  session.clock.advance(1);
  expect(categoriesOf(await windowOf(session))['new(fact3)']).toBe('asserted');
});

test('sets charCount to the length of the rendered atom, and totalCharCount to that of all', async () => {
  const session = await openSession();
  await session.tellAll(['p("a, b", é)', '-q(x)']);
  const window = await windowOf(session);
  expect(entry(window, 'p("a, b", é)').charCount).toBe('p("a, b", é)'.length);
  expect(window.totalCharCount).toBe('p("a, b", é)'.length + '-q(x)'.length);
});

test('skips a fact with too many characters, and may include a shorter one', async () => {
  const session = await openSession();
  await tellInTime(session, 'p(a)', 'p(a_long_constant)', 'p(b)');
  const window = await windowOf(session, { maxChars: 10, explainOmitted: true });
  expect(atomsOf(window)).toEqual(['p(b)', 'p(a)']);
  expect(reasonsOf(window)).toEqual({ 'p(a_long_constant)': 'budget' });
});

test('applies the predicate filter, maxFactsPerPredicate and maxAllocation to every entry, proofs included', async () => {
  const session = await openFamily();
  const goals = [goal('ancestor', 'alice', 'carol')];
  const filtered = await windowOf(session, { goals, predicates: ['ancestor'], explainOmitted: true });
  expect(atomsOf(filtered)).toEqual([]);
  expect(reasonsOf(filtered)).toMatchObject({
    'ancestor(alice, carol)': 'filtered',
    'likes(zoe, tea)': 'filtered',
  });
  const capped = await windowOf(session, { goals, maxFactsPerPredicate: 1, explainOmitted: true });
  expect(atomsOf(capped)).toEqual(['likes(zoe, tea)', 'parent(alice, bob)']);
  expect(reasonsOf(capped)).toMatchObject({
    'ancestor(alice, carol)': 'predicate_cap',
    'parent(bob, carol)': 'predicate_cap',
  });
  const relevanceBuckets = [{ name: 'family', predicates: ['parent'], maxFacts: 1 }];
  const bucketed = await windowOf(session, { goals, relevanceBuckets, explainOmitted: true });
  expect(reasonsOf(bucketed)).toMatchObject({
    'ancestor(alice, carol)': 'bucket',
    'parent(bob, carol)': 'bucket',
  });
  expect(bucketed.bucketStats['family']).toMatchObject({ factsIncluded: 1, maxAllocation: 1 });
});

test("computes a bucket's maxAllocation as the least of its maxFacts and max(1, floor(weight / total weight * maxFacts))", async () => {
  const session = await openSession();
  await session.tellAll(['a(1)', 'a(2)', 'a(3)', 'a(4)', 'b(1)', 'b(2)', 'b(3)', 'c(1)', 'c(2)']);
  const relevanceBuckets = [
    { name: 'first', predicates: ['a', 'b'], weight: 3 },
    { name: 'second', predicates: ['b', 'nothing'], weight: 0.1 },
    { name: 'third', predicates: ['c'], weight: 6.9, maxFacts: 1 },
  ];
  const window = await windowOf(session, { relevanceBuckets, maxFacts: 9 });
  expect(window.bucketStats).toMatchObject({
    first: { factsIncluded: 2, maxAllocation: 2 },
    second: { factsIncluded: 0, maxAllocation: 1, minSalience: null, maxSalience: null },
    third: { factsIncluded: 1, maxAllocation: 1 },
  });
  const { salience } = entry(window, 'c(1)');
  expect(window.bucketStats['third']).toMatchObject({ minSalience: salience, maxSalience: salience });
});

test('fills buckets in the given order while there is room, and the remaining room by salience', async () => {
  const session = await openSession();
  await tellInTime(session, 'a(1)', 'a(2)', 'b(1)', 'rest(1)', 'rest(2)');
  const relevanceBuckets = [
    { name: 'b', predicates: ['b'] },
    { name: 'a', predicates: ['a'] },
  ];
  const window = await windowOf(session, { relevanceBuckets, maxFacts: 4 });
  expect(atomsOf(window)).toEqual(['b(1)', 'a(2)', 'a(1)', 'rest(2)']);
});

test('accepts any name for a bucket', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  const window = await windowOf(session, { relevanceBuckets: [{ name: '__proto__', predicates: ['p'] }] });
  expect(JSON.parse(JSON.stringify(window.bucketStats))).toEqual(
    JSON.parse(
      '{"__proto__": {"factsIncluded": 1, "maxAllocation": 100, "minSalience": 1, "maxSalience": 1}}'.replaceAll(
        'ience": 1',
        `ience": ${window.entries[0]?.salience}`,
      ),
    ),
  );
});

test('counts the same atom of several scopes once, as the copy of the highest salience', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  session.clock.advance(day);
  await session.tell('p(a)', { scope: 's' });
  await session.tell('p(a)', { scope: 't' });
  const window = await windowOf(session, { explainOmitted: true });
  expect(window.entries).toMatchObject([{ predicate: 'p', scope: 's' }]);
  expect(window).toMatchObject({ totalFactsAvailable: 1, deduplicationSavings: 2 });
  expect(window.omitted).toMatchObject([
    { atom: 'p(a)', reason: 'duplicate' },
    { atom: 'p(a)', reason: 'duplicate' },
  ]);
  expect(await windowOf(session, { scope: 't' })).toMatchObject({ deduplicationSavings: 0 });
});

test('counts a stored fact that is also derived once', async () => {
  const session = await openSession();
  await session.tellAll(['q(a)', 'p(a)']);
  await session.teach('p(?x) :- q(?x)');
  for (const fields of [{ includeInferred: true }, { goals: [goal('p', '?x')] }]) {
    const window = await windowOf(session, fields);
    expect(window).toMatchObject({ totalFactsAvailable: 2, deduplicationSavings: 1 });
    expect(entry(window, 'p(a)').provenance).toBeNull();
  }
});

test('omits the less salient side of a contradiction with autoResolve, else keeps both', async () => {
  const session = await openSession();
  await session.tell('open(shop)');
  session.clock.advance(day);
  await session.tell('-open(shop)', { scope: 'news' });
  const window = await windowOf(session, { explainOmitted: true });
  expect(atomsOf(window)).toEqual(['-open(shop)']);
  expect(reasonsOf(window)).toEqual({ 'open(shop)': 'contradiction' });
  expect(window).toMatchObject({ contradictionsFound: 1, contradictionsResolved: 1 });
  const [found] = window.contradictions;
  expect(found).toMatchObject({ predicate: 'open', args: ['shop'] });
  expect(found?.positiveSalience).toBeLessThan(found?.negativeSalience ?? 0);
  const both = await windowOf(session, { autoResolveContradictions: false });
  expect(atomsOf(both)).toEqual(['-open(shop)', 'open(shop)']);
  expect(both).toMatchObject({ contradictionsFound: 1, contradictionsResolved: 0 });
  expect(await windowOf(session, { scope: 'news' })).toMatchObject({ contradictionsFound: 0 });
});

test('ignores facts whose validities do not overlap as contradictions', async () => {
  const session = await openSession();
  const now = session.clock.now();
  await session.tell('open(shop)', { validUntil: now + hour });
  await session.tell('-open(shop)', { validFrom: now + hour });
  expect(await windowOf(session)).toMatchObject({ contradictionsFound: 0 });
  session.clock.advance(hour);
  expect(atomsOf(await windowOf(session))).toEqual(['-open(shop)']);
});

test('keeps the stored side of a contradiction between equals, then the newer', async () => {
  const session = await openSession();
  await session.tellAll(['base(x)', '-p(x)']);
  await session.teach('p(?x) :- base(?x)');
  const derived = await windowOf(session, { includeInferred: true, explainOmitted: true });
  expect(atomsOf(derived)).toEqual(['-p(x)', 'base(x)']);
  expect(reasonsOf(derived)).toEqual({ 'p(x)': 'contradiction' });
  const other = await openSession();
  await other.tell('-p(x)');
  await other.tell('p(x)');
  expect(atomsOf(await windowOf(other))).toEqual(['p(x)']);
});

test('never uses an omitted side of a contradiction as a premise of a proof', async () => {
  const session = await openSession();
  await tellInTime(session, 'bird(tweety)', '-bird(tweety)');
  await session.teach('flies(?x) :- bird(?x)');
  const goals = [goal('flies', '?x')];
  const window = await windowOf(session, { goals, explainOmitted: true });
  expect(atomsOf(window)).toEqual(['-bird(tweety)']);
  expect(reasonsOf(window)).toEqual({ 'bird(tweety)': 'contradiction', 'flies(tweety)': 'contradiction' });
  await session.tell('plane(tweety)');
  await session.teach('flies(?x) :- winged(?x)');
  await session.teach('winged(?x) :- plane(?x)');
  const next = await windowOf(session, { goals });
  expect(entry(next, 'flies(tweety)').provenance?.premises).toEqual(['winged(tweety)']);
  expect(atomsOf(next)).not.toContain('bird(tweety)');
});

test('omits a conclusion if every proof rests on an omitted fact', async () => {
  const session = await openSession();
  await tellInTime(session, 'bird(tweety)', 'bird(polly)', '-bird(tweety)', 'plane(jumbo)', '-plane(jumbo)');
  await session.tell('kite(jumbo)');
  await session.teach('flies(?x) :- bird(?x)');
  await session.teach('flies(?x) :- plane(?x)');
  await session.teach('flies(?x) :- kite(?x)');
  await session.teach('seen(?x) :- flies(?x)');
  const window = await windowOf(session, { includeInferred: true, explainOmitted: true });
  expect(
    atomsOf(window)
      .filter((atom) => /^(flies|seen)/.test(atom))
      .sort(),
  ).toEqual(['flies(jumbo)', 'flies(polly)', 'seen(jumbo)', 'seen(polly)']);
  expect(entry(window, 'flies(jumbo)').provenance?.rule).toBe('flies(?x) :- kite(?x)');
  expect(reasonsOf(window)).toMatchObject({ 'seen(tweety)': 'contradiction' });
});

test('accepts goals that are negated, have variables, or repeat', async () => {
  const session = await openSession();
  await session.tellAll(['likes(ann, ann)', 'likes(ann, bob)', '-likes(bob, bob)', 'penguin(pingu)']);
  await session.teach('-flies(?x) :- penguin(?x)');
  const of = async (...goals: Fields[]): Promise<string[]> =>
    atomsOf({
      entries: (await windowOf(session, { goals })).entries.filter(
        ({ category }) => category === 'goal_relevant',
      ),
    });
  expect(await of(goal('likes', '?x', '?x'))).toEqual(['likes(ann, ann)']);
  expect(await of({ ...goal('likes', '?x', '?x'), negated: true })).toEqual(['-likes(bob, bob)']);
  expect(await of({ ...goal('flies', '?x'), negated: true })).toEqual(['penguin(pingu)', '-flies(pingu)']);
  expect(await of(goal('likes', 'ann', '?_'))).toEqual(['likes(ann, ann)', 'likes(ann, bob)']);
  expect(await of(goal('unheard', '?x'))).toEqual([]);
});

test('lists the atoms of the fact and rule steps, without negations, comparisons and aggregates', async () => {
  const session = await openSession();
  await session.tellAll(['item(a, 3)', 'item(a, 4)', 'sold(b)']);
  await session.teach('total(?x, ?s) :- item(?x, ?_), not sold(?x), ?s = sum { ?v : item(?x, ?v) }, ?s > 5');
  const window = await windowOf(session, { goals: [goal('total', '?x', '?s')] });
  expect(atomsOf(window).slice(0, 3).sort()).toEqual(['item(a, 3)', 'item(a, 4)', 'total(a, 7)']);
  expect(entry(window, 'total(a, 7)').provenance?.premises).toEqual([
    'item(a, 3)',
    'not sold(a)',
    '7 = sum { ?v : item(a, ?v) }',
    '7 > 5',
  ]);
});

test('lists in relevantRules the rules of those proofs, or without goals those about the predicates in the window', async () => {
  const session = await openFamily();
  await session.teach('liked(?y) :- likes(?x, ?y)');
  const disabled = await session.teach('off(?y) :- parent(?x, ?y)');
  await session.changeRule(disabled.id, { enabled: false });
  const goals = [goal('ancestor', 'alice', 'bob')];
  expect((await windowOf(session, { goals })).relevantRules).toEqual(['ancestor(?x, ?z) :- parent(?x, ?z)']);
  expect((await windowOf(session, { predicates: ['parent'] })).relevantRules).toEqual([
    'ancestor(?x, ?z) :- parent(?x, ?z)',
    'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)',
  ]);
  expect((await windowOf(session, { predicates: ['likes'] })).relevantRules).toEqual([
    'liked(?y) :- likes(?x, ?y)',
  ]);
});

test('reads one scope, the unscoped facts, or everything', async () => {
  const session = await openSession();
  await session.tell('p(plain)');
  await session.tell('p(scoped)', { scope: 's' });
  await session.teach('q(?x) :- p(?x)', { scope: 's' });
  const goals = [goal('q', '?x')];
  expect(atomsOf(await windowOf(session, { scope: 's', goals }))).toEqual(['p(scoped)', 'q(scoped)']);
  expect(atomsOf(await windowOf(session, { unscoped: true, goals }))).toEqual(['p(plain)']);
  const all = await windowOf(session, { goals });
  expect(atomsOf(all)).toEqual(['p(scoped)', 'q(scoped)', 'p(plain)']);
  expect(entry(all, 'q(scoped)').scope).toBe('s');
});

test('does not count as a use of a fact', async () => {
  const session = await openFamily();
  session.clock.advance(day);
  const salience = async () => (await session.list({ sort: 'salience' })).facts.map((fact) => fact.salience);
  const before = await salience();
  await windowOf(session, {
    goals: [goal('ancestor', '?x', '?y')],
    includeInferred: true,
    explainOmitted: true,
  });
  expect(await salience()).toEqual(before);
});

test('returns the same window for the same knowledge and request, apart from windowId', async () => {
  const session = await openFamily();
  const fields = {
    goals: [goal('ancestor', '?x', '?y')],
    includeInferred: true,
    explainOmitted: true,
    maxFacts: 7,
  };
  const { windowId, ...first } = await windowOf(session, fields);
  const { windowId: other, ...second } = await windowOf(session, fields);
  expect(JSON.stringify(second)).toBe(JSON.stringify(first));
  expect(other).not.toBe(windowId);
});

test('lists what was left out with its reason in omitted, 10,000 at most', async () => {
  const session = await openSession();
  await session.tellAll(Array.from({ length: 10_120 }, (_, at) => `p(c${at})`));
  const window = await windowOf(session, { maxFacts: 100, explainOmitted: true });
  expect(window.omitted).toHaveLength(10_000);
  expect(window.omittedComplete).toBe(false);
  const all = await windowOf(session, { maxFacts: 150, explainOmitted: true });
  expect(all.omitted).toHaveLength(9970);
  expect(all).not.toHaveProperty('omittedComplete');
  expect(await windowOf(session, { maxFacts: 150 })).not.toHaveProperty('omitted');
});

test('returns an empty window for an unknown tenant', async () => {
  const session = (await openFamily()).as({ tenant: 'nobody' });
  const window = await windowOf(session, { goals: [goal('ancestor', '?x', '?y')], explainOmitted: true });
  expect(window).toMatchObject({ entries: [], totalFactsAvailable: 0, omitted: [] });
});

const counting = 'n(?y) :- n(?x), ?y = ?x + 1';

test('gives a goal that explodes the status limit, proves the others, and affects nothing else', async () => {
  const session = await openFamily({ memoryBudgetBytes: 2 ** 23 });
  await session.tell('n(1)');
  await session.teach(counting);
  const goals = [goal('n', '?x'), goal('ancestor', 'alice', 'carol'), goal('m', '?x')];
  const window = await windowOf(session, { goals, timeoutMs: 60_000 });
  expect(window.goals.map(({ goal: asked, status }) => [asked, status])).toEqual([
    ['n(?x)', 'limit'],
    ['ancestor(alice, carol)', 'proved'],
    ['m(?x)', 'no_answer'],
  ]);
  expect(window.goals[0]).toMatchObject({
    answers: { found: 0, whole: 0, premises: 0, omitted: 0 },
    atoms: [],
    needs: null,
    reason: null,
  });
  expect(atomsOf(window)).toContain('ancestor(alice, carol)');
  expect(atomsOf(await windowOf(session, { predicates: ['n'] }))).toEqual(['n(1)']);
});

test('returns InferenceLimitExceeded for conclusions beside goals that explode', async () => {
  const session = await openSession();
  await session.tell('n(1)');
  await session.teach(counting);
  const error = await refusal(
    windowOf(session, { predicates: ['n'], includeInferred: true, timeoutMs: 200 }),
  );
  expect(error.code).toBe('InferenceLimitExceeded');
  expect(error.members).toMatchObject({ limit: 'timeoutMs' });
});

test('gives a goal whose answers need more memory than there is the status limit', async () => {
  const session = await openSession({ memoryBudgetBytes: 2 ** 22 });
  await session.tellAll(Array.from({ length: 600 }, (_, at) => `e(c${at})`));
  await session.teach('pair(?x, ?y) :- e(?x), e(?y)');
  await session.teach('first(?x) :- e(?x), ?x = c0');
  const goals = [goal('pair', '?x', '?y'), goal('first', '?x')];
  const window = await windowOf(session, { goals, maxFacts: 10 });
  expect(window.goals.map(({ status }) => status)).toEqual(['limit', 'proved']);
});

test('stops when its client disconnects', async () => {
  const held = gate();
  const session = await openSession({ pause: held.pause });
  await session.tellAll(chainOf(2000));
  await session.teach('tc(?x, ?z) :- edge(?x, ?z)');
  await session.teach('tc(?x, ?z) :- edge(?x, ?y), tc(?y, ?z)');
  const control = new AbortController();
  const hold = held.hold();
  const window = windowOf(session.as({ signal: control.signal }), { goals: [goal('tc', '?x', '?y')] });
  await hold;
  control.abort();
  held.release();
  await expect(window).rejects.toThrow('the client has gone');
});

test('omits a proof much larger than the window without searching all of it', async () => {
  const session = await openSession();
  await session.tellAll(chainOf(800));
  await session.teach('tc(?x, ?z) :- edge(?x, ?z)');
  await session.teach('tc(?x, ?z) :- tc(?x, ?y), edge(?y, ?z)');
  const goals = [goal('tc', 'n0', '?x')];
  const window = await windowOf(session, { goals, maxFacts: 20 });
  expect(window.entries.filter(({ category }) => category === 'goal_relevant')).toHaveLength(20);
  const all = await windowOf(session, { goals: [goal('tc', 'n0', 'n800')], maxFacts: 1600 });
  expect(all.entries.filter(({ category }) => category === 'goal_relevant')).toHaveLength(1600);
});

test('has the stored premises of a proof that does not fit, all or none, unless told otherwise', async () => {
  const session = await openFamily();
  const goals = [goal('ancestor', 'alice', 'dan')];
  const premises = ['parent(alice, bob)', 'parent(bob, carol)', 'parent(carol, dan)'];
  const relevant = async (fields: Fields): Promise<string[]> => {
    const { entries } = await windowOf(session, { goals, ...fields });
    return entries.filter(({ category }) => category === 'goal_relevant').map(renderAtom);
  };
  for (let maxFacts = 1; maxFacts <= 5; maxFacts++)
    expect((await relevant({ maxFacts })).sort()).toEqual(maxFacts < 3 ? [] : premises);
  expect(await relevant({ maxFacts: 6 })).toHaveLength(6);
  expect((await relevant({ maxFacts: 6, proofs: 'premises' })).sort()).toEqual(premises);
  const [of] = (await windowOf(session, { goals, maxFacts: 4, predicates: ['parent'] })).goals;
  expect(of).toMatchObject({ status: 'premises' });
});

test('contains nothing of another tenant', async () => {
  const session = await openFamily();
  const other = session.as(testCaller({ tenant: 'other' }));
  await other.tell('parent(eve, mallory)');
  const window = await windowOf(other, { goals: [goal('ancestor', '?x', '?y')] });
  expect(atomsOf(window)).toEqual(['parent(eve, mallory)', 'ancestor(eve, mallory)']);
});

test('reports the status of every goal, and the size of its proof', async () => {
  const session = await openFamily();
  const goals = [
    goal('ancestor', 'alice', '?who'),
    goal('ancestor', 'alice', 'dan'),
    goal('ancestor', 'dan', '?who'),
    goal('likes', 'zoe', '?what'),
  ];
  const window = await windowOf(session, { goals, maxFacts: 3 });
  expect(atomsOf(window)).toHaveLength(3);
  expect(window.goals).toEqual([
    {
      goal: 'ancestor(alice, ?who)',
      status: 'proved',
      answers: { found: 3, whole: 1, premises: 0, omitted: 2 },
      atoms: ['ancestor(alice, bob)', 'ancestor(alice, carol)', 'ancestor(alice, dan)'],
      needs: { facts: 2, chars: 'parent(alice, bob)ancestor(alice, bob)'.length, tokens: 13 },
      reason: null,
    },
    {
      goal: 'ancestor(alice, dan)',
      status: 'does_not_fit',
      answers: { found: 1, whole: 0, premises: 0, omitted: 1 },
      atoms: ['ancestor(alice, dan)'],
      needs: { facts: 6, chars: 3 * 18 + 20 + 20 + 18, tokens: 40 },
      reason: 'budget',
    },
    {
      goal: 'ancestor(dan, ?who)',
      status: 'no_answer',
      answers: { found: 0, whole: 0, premises: 0, omitted: 0 },
      atoms: [],
      needs: null,
      reason: null,
    },
    {
      goal: 'likes(zoe, ?what)',
      status: 'proved',
      answers: { found: 1, whole: 1, premises: 0, omitted: 0 },
      atoms: ['likes(zoe, tea)'],
      needs: { facts: 1, chars: 15, tokens: 7 },
      reason: null,
    },
  ]);
  expect((await windowOf(session)).goals).toEqual([]);
});

test('gives a goal the status premises if the window has only all its stored premises', async () => {
  const session = await openFamily();
  const [of] = (await windowOf(session, { goals: [goal('ancestor', 'alice', 'dan')], maxFacts: 4 })).goals;
  expect(of).toMatchObject({ status: 'premises', answers: { whole: 0, premises: 1, omitted: 0 } });
  const filtered = await windowOf(session, { goals: [goal('ancestor', '?x', '?z')], predicates: ['likes'] });
  expect(filtered.goals).toMatchObject([{ status: 'does_not_fit', reason: 'filtered' }]);
});

test('counts contradictions and totals of the requested predicates', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', '-p(a)', 'q(a)', '-q(a)', 'q(b)']);
  await session.tell('q(b)', { scope: 's' });
  const all = await windowOf(session);
  expect(all).toMatchObject({ totalFactsAvailable: 5, deduplicationSavings: 1, contradictionsFound: 2 });
  const some = await windowOf(session, { predicates: ['p'], explainOmitted: true });
  expect(some).toMatchObject({
    totalFactsAvailable: 2,
    deduplicationSavings: 0,
    contradictionsFound: 1,
    contradictionsResolved: 1,
    contradictions: [{ predicate: 'p', args: ['a'] }],
  });
  expect(reasonsOf(some)).toMatchObject({ 'q(a)': 'filtered', 'q(b)': 'duplicate' });
  expect(some.omittedComplete).toBeUndefined();
  const none = await windowOf(session, { predicates: ['r'] });
  expect(none).toMatchObject({ totalFactsAvailable: 0, contradictionsFound: 0, contradictionsResolved: 0 });
});

test('resolves contradictions among premises, even of other predicates', async () => {
  const session = await openSession();
  await session.teach('p(?x) :- q(?x)');
  await session.tell('q(a)');
  session.clock.advance(day);
  await session.tell('-q(a)');
  const window = await windowOf(session, { predicates: ['p'], includeInferred: true });
  expect(atomsOf(window)).toEqual([]);
  expect(window.contradictionsFound).toBe(0);
});
