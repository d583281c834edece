import { expect, test } from 'vitest';
import { askInputSchema } from '../contract/inference.ts';
import { chainOf, day, openSession, patternInput, refusal, startTime } from '../testing/engine-fixtures.ts';

/** Questions and their answers: contract section 5. proof.test.ts covers proofs. */

test('accepts constants and variables in any mix as args', async () => {
  const { engine, caller, tellAll } = await openSession();
  await tellAll(['p(a, b, c)', 'p(a, x, c)', 'p(b, b, b)']);
  const ask = async (text: string): Promise<string[]> =>
    (await engine.ask(caller, patternInput(text))).results;
  expect(await ask('p(?x, ?y, ?z)')).toEqual(['p(a, b, c)', 'p(a, x, c)', 'p(b, b, b)']);
  expect(await ask('p(a, ?y, c)')).toEqual(['p(a, b, c)', 'p(a, x, c)']);
  expect(await ask('p(?x, ?x, ?y)')).toEqual(['p(b, b, b)']);
  expect(await ask('p(?x, ?x, ?x)')).toEqual(['p(b, b, b)']);
  expect(await ask('p(a, b, c)')).toEqual(['p(a, b, c)']);
  expect(await ask('p(?_, b, ?_)')).toEqual(['p(a, b, c)', 'p(b, b, b)']);
});

test('maps variable names without ? to constants in the bindings of results, without ?_', async () => {
  const { ask, tellAll } = await openSession();
  await tellAll(['p(a, b)', 'p(c, d)']);
  expect(await ask('p(?first, ?_)')).toMatchObject({
    results: ['p(a, b)', 'p(c, d)'],
    bindings: [{ first: 'a' }, { first: 'c' }],
    count: 2,
    truncated: false,
  });
  expect(await ask('p(?x, ?x)')).toMatchObject({ results: [], bindings: [], count: 0 });
});

test('answers a true ground question with the binding {} and an untrue one with no answer', async () => {
  const { ask, tell, teach } = await openSession();
  await tell('p(a)');
  await teach('q(?x) :- p(?x)');
  expect(await ask('q(a)')).toMatchObject({ results: ['q(a)'], bindings: [{}], count: 1 });
  expect(await ask('q(b)')).toMatchObject({ results: [], bindings: [], count: 0, truncated: false });
  expect(await ask('never()')).toMatchObject({ results: [], bindings: [] });
});

test('accepts any variable name, even that of an object member', async () => {
  const { ask, tell } = await openSession();
  await tell('p(a, b, c)');
  const { bindings } = await ask('p(?__proto__, ?constructor, ?toString)');
  expect(JSON.stringify(bindings)).toBe('[{"__proto__":"a","constructor":"b","toString":"c"}]');
});

test('accepts the text of a body as the question and returns its rendered instances', async () => {
  const { ask, tellAll } = await openSession();
  await tellAll(['parent(a, b)', 'parent(b, c)', 'age(b, 40)', 'age(c, 7)', '-rich(a)']);
  expect(await ask('parent(?x, ?y), age(?y, ?n), ?n > 10, -rich(?x)')).toMatchObject({
    results: ['parent(a, b), age(b, 40), 40 > 10, -rich(a)'],
    bindings: [{ x: 'a', y: 'b', n: '40' }],
  });
  expect((await ask('parent(?x, ?_), parent(?_, ?z)')).results).toHaveLength(4);
});

test('accepts a body of literals as the question', async () => {
  const { engine, caller, tellAll, teach } = await openSession();
  await tellAll(['p(a)', 'p(b)']);
  await teach('-q(?x) :- p(?x), ?x != a');
  const body = [
    { predicate: 'p', args: ['?x'] },
    { predicate: 'q', args: ['?x'], negated: true },
  ];
  const { results, bindings } = await engine.ask(caller, askInputSchema.parse({ body }));
  expect(results).toEqual(['p(b), -q(b)']);
  expect(bindings).toEqual([{ x: 'b' }]);
});

test('answers a question of built-ins only', async () => {
  const { ask } = await openSession();
  expect(await ask('1 < 2')).toMatchObject({ results: ['1 < 2'], bindings: [{}] });
  expect(await ask('2 < 1')).toMatchObject({ results: [] });
  expect(await ask('?x = 3 + 4')).toMatchObject({ results: ['7 = 3 + 4'], bindings: [{ x: '7' }] });
  expect(await ask('?x = a')).toMatchObject({ results: ['a = a'], bindings: [{ x: 'a' }] });
});

test('rejects an unsafe question and names the variable', async () => {
  const { ask, tell } = await openSession();
  await tell('p(a)');
  for (const [text, variable] of [
    ['p(?x), ?y < 3', '?y'],
    ['p(?x), not q(?z)', '?z'],
  ] as const) {
    const refused = await refusal(ask(text));
    expect(refused.code).toBe('RuleException');
    expect(refused.message).toContain(variable);
  }
  expect((await refusal(ask('p(?x'))).code).toBe('ValidationException');
});

test('returns distinct results, ordered by their arguments by code point', async () => {
  const { results, tellAll, teach } = await openSession();
  await tellAll(['a(é, 1)', 'a(z, 10)', 'a(z, 9)', 'b(z, 9)', 'a(Z, \u{1f600})', 'a(Z, \uffee)']);
  await teach('p(?x, ?y) :- a(?x, ?y)');
  await teach('p(?x, ?y) :- b(?x, ?y)');
  const order = ['Z, \uffee', 'Z, \u{1f600}', 'z, 10', 'z, 9', 'é, 1'];
  expect(await results('p(?x, ?y)')).toEqual(order.map((args) => `p(${args})`));
  expect(await results('a(?x, ?y)')).toEqual(order.map((args) => `a(${args})`));
});

test('answers the same from stored facts with and without an index: once for several scopes, as of now', async () => {
  const { tell, results, clock } = await openSession();
  for (const scope of [null, 'a', 'b']) await tell('p(x, x, 1)', { scope });
  await tell('p(x, y, 1)', { scope: 'a' });
  await tell('p(x, z, 1)', { validUntil: startTime + day });
  const bound = async (third: string) =>
    (await results(`p(x, ?y, ${third})`)).map((atom) => atom.slice(5, 6));
  expect(await bound('1')).toEqual(['x', 'y', 'z']);
  expect(await bound('?_')).toEqual(['x', 'y', 'z']);
  expect(await results('p(?x, ?x, 1)')).toEqual(['p(x, x, 1)']);
  expect(await results('p(?x, ?x, ?_)')).toEqual(['p(x, x, 1)']);
  clock.advance(day);
  expect(await bound('1')).toEqual(['x', 'y']);
  expect(await results('p(?x, ?y, ?z)')).toHaveLength(2);
});

test('returns the page of limit and offset; count is of the page, truncated says that there is more', async () => {
  const { ask, tellAll, teach } = await openSession();
  await tellAll(Array.from({ length: 10 }, (_, at) => `p(n${at})`));
  await teach('q(?x) :- p(?x)');
  const page = async (fields: object) => {
    const { results, count, truncated } = await ask('q(?x)', { ...fields });
    return [results.map((result) => result.slice(2, -1)).join(' '), count, truncated];
  };
  expect(await page({ limit: 3 })).toEqual(['n0 n1 n2', 3, true]);
  expect(await page({ limit: 3, offset: 6 })).toEqual(['n6 n7 n8', 3, true]);
  expect(await page({ limit: 3, offset: 7 })).toEqual(['n7 n8 n9', 3, false]);
  expect(await page({ offset: 8 })).toEqual(['n8 n9', 2, false]);
  expect(await page({ limit: 10 })).toEqual(['n0 n1 n2 n3 n4 n5 n6 n7 n8 n9', 10, false]);
  expect(await page({ limit: 5, offset: 10 })).toEqual(['', 0, false]);
  expect(await page({ limit: 5, offset: 4_000_000 })).toEqual(['', 0, false]);
});

test('asks for explicit negation with negated', async () => {
  const { engine, caller, tellAll, teach } = await openSession();
  await tellAll(['-flies(pingu)', 'flies(tweety)', 'penguin(tux)']);
  await teach('-flies(?x) :- penguin(?x)');
  const ask = async (text: string) => (await engine.ask(caller, patternInput(text))).results;
  expect(await ask('-flies(?x)')).toEqual(['-flies(pingu)', '-flies(tux)']);
  expect(await ask('flies(?x)')).toEqual(['flies(tweety)']);
});

test('derives nothing else from the contradiction of p and -p', async () => {
  const { tellAll, results } = await openSession();
  await tellAll(['p(a)', '-p(a)', 'q(b)']);
  expect(await results('p(?x), -p(?x)')).toEqual(['p(a), -p(a)']);
  expect(await results('q(?x)')).toEqual(['q(b)']);
});

const recursions: Record<string, string[]> = {
  left: ['reach(?x, ?y) :- edge(?x, ?y)', 'reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)'],
  right: ['reach(?x, ?y) :- edge(?x, ?y)', 'reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)'],
  double: ['reach(?x, ?y) :- edge(?x, ?y)', 'reach(?x, ?z) :- reach(?x, ?y), reach(?y, ?z)'],
  mutual: [
    'reach(?x, ?y) :- edge(?x, ?y)',
    'reach(?x, ?z) :- edge(?x, ?y), also(?y, ?z)',
    'also(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)',
    'also(?x, ?y) :- edge(?x, ?y)',
  ],
};

for (const [kind, rules] of Object.entries(recursions))
  test(`answers ${kind} recursion over cyclic data completely, whatever is bound`, async () => {
    const { tellAll, teach, results } = await openSession();
    await tellAll([...chainOf(20), 'edge(n20, n0)', 'edge(n20, n20)', 'edge(loner, loner)']);
    for (const rule of rules) await teach(rule);
    expect(await results('reach(?x, ?y)')).toHaveLength(21 * 21 + 1);
    expect(await results('reach(n3, ?y)')).toHaveLength(21);
    expect(await results('reach(?x, n3)')).toHaveLength(21);
    expect(await results('reach(?x, ?x)')).toHaveLength(22);
    expect(await results('reach(loner, ?y)')).toEqual(['reach(loner, loner)']);
    expect(await results('reach(n3, n3)')).toEqual(['reach(n3, n3)']);
    expect(await results('reach(n3, loner)')).toEqual([]);
  });

test('gives the same answer for any order of assertion and teaching', async () => {
  const facts = [...chainOf(12), 'edge(n12, n4)', 'reach(extra, n0)'];
  const rules = recursions['double'] as string[];
  const answers = new Set<string>();
  for (const isReversed of [false, true]) {
    const { tell, teach, ask } = await openSession();
    const steps = [...facts.map((fact) => () => tell(fact)), ...rules.map((rule) => () => teach(rule))];
    for (const step of isReversed ? steps.reverse() : steps) await step();
    const { results, bindings } = await ask('reach(?x, ?y)');
    answers.add(JSON.stringify([results, bindings]));
  }
  expect(answers.size).toBe(1);
});

test('evaluates default negation as true if no match can be derived', async () => {
  const { tellAll, teach, results, forget } = await openSession();
  await tellAll(['node(a)', 'node(b)', 'node(c)', 'edge(a, b)', 'edge(b, a)']);
  await teach('linked(?x) :- edge(?x, ?_)');
  await teach('lonely(?x) :- node(?x), not linked(?x)');
  expect(await results('lonely(?x)')).toEqual(['lonely(c)']);
  await forget('edge(b, a)');
  expect(await results('lonely(?x)')).toEqual(['lonely(b)', 'lonely(c)']);
  expect(await results('node(?x), not edge(?x, ?_)')).toEqual([
    'node(b), not edge(b, ?_)',
    'node(c), not edge(c, ?_)',
  ]);
});

test('follows the contract’s numbers in arithmetic and comparisons', async () => {
  const { tellAll, results } = await openSession();
  await tellAll(['n(1)', 'n(1.0)', 'n(10)', 'n(9)', 'n(text)', 'n(007)']);
  expect(await results('n(?x), ?x = 1')).toEqual(['n(1), 1 = 1', 'n(1.0), 1.0 = 1']);
  expect(await results('n(?x), ?x > 9')).toContain('n(10), 10 > 9');
  expect(await results('n(1), ?y = 7 / 2')).toEqual(['n(1), 3.5 = 7 / 2']);
  expect(await results('n(?x), ?y = ?x + 1')).toEqual([
    'n(1), 2 = 1 + 1',
    'n(1.0), 2 = 1.0 + 1',
    'n(10), 11 = 10 + 1',
    'n(9), 10 = 9 + 1',
  ]);
  expect(await results('n(9), ?y = 9 / 0')).toEqual([]);
});

test('aggregates over distinct tuples, and follows their changes', async () => {
  const { tellAll, tell, teach, results } = await openSession();
  await tellAll(['item(a, 3)', 'item(b, 3)', 'item(c, 4)']);
  await teach('total(?n) :- ?n = sum { ?v, ?id : item(?id, ?v) }');
  await teach('values(?n) :- ?n = count { ?v : item(?_, ?v) }');
  expect(await results('total(?n)')).toEqual(['total(10)']);
  expect(await results('values(?n)')).toEqual(['values(2)']);
  await tell('item(d, 5)');
  expect(await results('total(?n)')).toEqual(['total(15)']);
  expect(await results('values(?n)')).toEqual(['values(3)']);
});

test('counts a question as one use of each stored fact among its answers, and of no others', async () => {
  const { tell, teach, results, ask, engine, caller, clock } = await openSession();
  await teach('q(?x) :- p(?x), r(?x)');
  const ids = { p: '', r: '', q: '', other: '' };
  ids.p = (await tell('p(a)')).id;
  ids.r = (await tell('r(a)')).id;
  ids.q = (await tell('q(b)')).id;
  ids.other = (await tell('q(c)')).id;
  const uses = async () => {
    const found: Record<string, number> = {};
    for (const [name, id] of Object.entries(ids))
      found[name] = (await engine.fact(caller, id)).salienceBreakdown.uses;
    return found;
  };
  clock.advance(day);
  await results('q(?x)', { limit: 2 });
  expect(await uses()).toEqual({ p: 1, r: 1, q: 2, other: 1 });
  await results('p(?x), r(?x), p(?y)');
  expect(await uses()).toEqual({ p: 2, r: 2, q: 2, other: 1 });
  await ask('q(a)', { withProof: true });
  expect(await uses()).toEqual({ p: 3, r: 3, q: 2, other: 1 });
});

test('counts an answer stored in many scopes as a use of the fact in each scope that the question sees', async () => {
  const { tell, results, engine, caller } = await openSession();
  const ids: string[] = [];
  for (let scope = 0; scope < 20; scope++) ids.push((await tell('p(a)', { scope: `s${scope}` })).id);
  await tell('p(a)', { scope: 's7', metadata: { source: 'updated' } });
  const uses = async (): Promise<number[]> => {
    const details = await Promise.all(ids.map((id) => engine.fact(caller, id)));
    return details.map(({ salienceBreakdown }) => salienceBreakdown.uses);
  };
  await results('p(?x)', { scope: 's3' });
  await results('p(?x)', { unscoped: true });
  expect(await uses()).toEqual(ids.map((_, at) => (at === 3 || at === 7 ? 2 : 1)));
  await results('p(?x)');
  expect(await uses()).toEqual(ids.map((_, at) => (at === 3 || at === 7 ? 3 : 2)));
});

test('returns the generation of the state that was asked', async () => {
  const { ask, tell, teach } = await openSession();
  expect((await ask('p(?x)')).generation).toBe(0);
  await tell('p(a)');
  await teach('q(?x) :- p(?x)');
  expect((await ask('q(?x)')).generation).toBe(2);
  expect((await ask('q(?x)')).generation).toBe(2);
});

test('answers after any change as if everything had been derived afresh', async () => {
  const { tell, teach, results, forget, changeRule, engine, caller, clock } = await openSession();
  const { id } = await teach('reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)');
  await teach('reach(?x, ?y) :- edge(?x, ?y)');
  await tell('edge(a, b)');
  expect(await results('reach(a, ?x)')).toEqual(['reach(a, b)']);
  await tell('edge(b, c)');
  expect(await results('reach(a, ?x)')).toEqual(['reach(a, b)', 'reach(a, c)']);
  await tell('edge(c, d)', { ttl: 100 });
  expect(await results('reach(a, ?x)')).toHaveLength(3);
  clock.advance(100);
  expect(await results('reach(a, ?x)')).toHaveLength(2);
  await changeRule(id, { enabled: false });
  expect(await results('reach(a, ?x)')).toEqual(['reach(a, b)']);
  await changeRule(id, { enabled: true });
  await forget('edge(a, b)');
  expect(await results('reach(a, ?x)')).toEqual([]);
  await tell('reach(a, b)');
  await engine.forgetRule(caller, id);
  expect(await results('reach(?x, ?y)')).toEqual(['reach(a, b)', 'reach(b, c)']);
});

test('repeats the answer of the same question until something changes', async () => {
  const { engine, caller, clock, tell, teach, forget, changeRule } = await openSession();
  for (let node = 0; node < 40; node++) await tell(`edge(${node}, ${node + 1})`);
  const taught = await teach('path(?x, ?y) :- edge(?x, ?y)');
  await teach('path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)');
  const ask = async (fields: Record<string, unknown> = {}): Promise<unknown> => {
    const { elapsedMs: _, ...answer } = await engine.ask(caller, patternInput('path(0, ?y)', fields));
    return answer;
  };
  const parts = [{}, { limit: 2 }, { limit: 2, offset: 3 }, { limit: 3, withProof: true }];
  const all = async (): Promise<unknown[]> => {
    const answers: unknown[] = [];
    for (const part of parts) answers.push(await ask(part));
    return answers;
  };
  const first = await all();
  expect(first[1]).toMatchObject({ results: ['path(0, 1)', 'path(0, 10)'], truncated: true });
  expect(first[2]).toMatchObject({ results: ['path(0, 12)', 'path(0, 13)'], truncated: true });
  expect(await all()).toEqual(first);
  await forget('edge(9, 10)');
  expect(await ask({ limit: 3 })).toMatchObject({ results: ['path(0, 1)', 'path(0, 2)', 'path(0, 3)'] });
  await tell('edge(9, 10)', { validUntil: clock.now() + 1_000 });
  expect((await all())[1]).toMatchObject({ results: ['path(0, 1)', 'path(0, 10)'] });
  clock.advance(2_000);
  expect(await ask({ limit: 2 })).toMatchObject({ results: ['path(0, 1)', 'path(0, 2)'] });
  await changeRule(taught.id, { enabled: false });
  expect(await ask({ limit: 2 })).toMatchObject({ results: [] });
});
