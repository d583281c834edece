import { expect, test } from 'vitest';
import type { Proof } from '../contract/inference.ts';
import { factInput, openSession, proofLines } from '../testing/engine-fixtures.ts';

/** Proofs: contract section 5. */

/** The height of every step, as the contract counts it. */
function heights({ steps }: Proof): number[] {
  const found: number[] = [];
  for (const { kind, premises } of steps) {
    const below = Math.max(0, ...premises.map((premise) => found[premise] ?? Number.NaN));
    found.push(kind === 'rule' ? below + 1 : kind === 'aggregate' ? below : 0);
  }
  return found;
}

/** The atoms that the step depends on, down to the facts. */
function restsOn({ steps }: Proof, root: number): Set<string> {
  const found = new Set<string>();
  const open = [...(steps[root]?.premises ?? [])];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const step = steps[at];
    if (step === undefined || found.has(step.atom)) continue;
    found.add(step.atom);
    open.push(...step.premises);
  }
  return found;
}

test('returns a chain of steps, each after its premises, with its rule and its stored facts', async () => {
  const { tell, teach, proof } = await openSession();
  const { id, rule } = await teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  const first = await tell('parent(a, b)', { metadata: { source: 'a book' } });
  const other = await tell('parent(b, c)');
  const about = { rule: null, ruleId: null, premises: [], scope: null };
  expect(await proof('grandparent(a, ?x)')).toEqual({
    roots: [2],
    steps: [
      {
        id: 0,
        atom: 'parent(a, b)',
        kind: 'fact',
        ...about,
        factId: first.id,
        metadata: { source: 'a book' },
      },
      { id: 1, atom: 'parent(b, c)', kind: 'fact', ...about, factId: other.id },
      { id: 2, atom: 'grandparent(a, c)', kind: 'rule', rule, ruleId: id, premises: [0, 1], scope: null },
    ],
  });
});

test('returns no proof unless requested, and an empty one without answers', async () => {
  const { ask, tell } = await openSession();
  await tell('p(a)');
  expect(await ask('p(?x)')).not.toHaveProperty('proof');
  expect((await ask('p(b)', { withProof: true })).proof).toEqual({ roots: [], steps: [] });
});

test('proves results[i] by roots[i], for the requested page', async () => {
  const { ask, tellAll, teach } = await openSession();
  await tellAll(['p(c)', 'p(a)', 'q(b)', 'p(d)']);
  await teach('q(?x) :- p(?x)');
  const { results, proof } = await ask('q(?x)', { withProof: true, limit: 2, offset: 1 });
  expect(results).toEqual(['q(b)', 'q(c)']);
  expect(proof?.roots.map((root) => proof.steps[root]?.atom)).toEqual(results);
  expect(proof?.steps.map(({ atom }) => atom).sort()).toEqual(['p(c)', 'q(b)', 'q(c)']);
});

test('proves a stored fact by itself, even if a rule concludes it too', async () => {
  const { tellAll, teach, proof } = await openSession();
  await tellAll(['p(a)', 'q(a)']);
  await teach('q(?x) :- p(?x)');
  expect(proofLines(await proof('q(a)'))).toEqual(['0 fact q(a)']);
});

test('includes shared sub-proofs once', async () => {
  const { tell, teach, proof } = await openSession();
  await tell('base(a)');
  for (let level = 0; level < 12; level++) await teach(`p${level + 1}(?x) :- p${level}(?x), q${level}(?x)`);
  for (let level = 0; level < 12; level++) await teach(`q${level}(?x) :- p${level}(?x)`);
  await teach('p0(?x) :- base(?x)');
  const found = await proof('p12(a)');
  expect(found.steps).toHaveLength(26);
  expect(new Set(found.steps.map(({ atom }) => atom)).size).toBe(26);
});

test('has minimal height', async () => {
  const { tellAll, teach, proof } = await openSession();
  await teach('reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)');
  await teach('reach(?x, ?y) :- edge(?x, ?y)');
  await tellAll(['edge(a, b)', 'edge(b, c)', 'edge(c, d)', 'edge(d, e)', 'edge(a, x)', 'edge(x, e)']);
  expect(proofLines(await proof('reach(a, e)'))).toEqual([
    '0 fact edge(a, x)',
    '1 fact edge(x, e)',
    '2 rule reach(x, e) [1]',
    '3 rule reach(a, e) [0 2]',
  ]);
});

test('proves double recursion in logarithmic height', async () => {
  const { tellAll, teach, proof } = await openSession();
  await teach('reach(?x, ?y) :- edge(?x, ?y)');
  await teach('reach(?x, ?z) :- reach(?x, ?y), reach(?y, ?z)');
  await tellAll(Array.from({ length: 64 }, (_, at) => `edge(n${at}, n${at + 1})`));
  const found = await proof('reach(n0, n64)');
  expect(Math.max(...heights(found))).toBe(7);
});

test('prefers among proofs of that height the earliest rule, then the premises as rendered', async () => {
  const { tellAll, teach, proof } = await openSession();
  await teach('q(?x) :- b(?x, ?y)');
  await teach('q(?x) :- a(?x, ?y)');
  await tellAll(['a(1, a)', 'b(1, c)', 'b(1, \u{1f600})', 'b(1, \uffee)', 'b(1, 10)', 'b(1, 9)']);
  expect(proofLines(await proof('q(1)'))).toEqual(['0 fact b(1, 10)', '1 rule q(1) [0]']);
});

test('keeps the order of creation when a rule is changed', async () => {
  const { tellAll, teach, proof, changeRule } = await openSession();
  const { id } = await teach('q(?x) :- z(?x)');
  await teach('q(?x) :- a(?x)');
  await changeRule(id, { text: 'q(?x) :- b(?x)' });
  await tellAll(['a(1)', 'b(1)']);
  expect(proofLines(await proof('q(1)'))).toEqual(['0 fact b(1)', '1 rule q(1) [0]']);
});

test('lets no conclusion support itself', async () => {
  const { tellAll, teach, proof, results } = await openSession();
  await teach('p(?x) :- q(?x)');
  await teach('q(?x) :- p(?x)');
  await teach('q(?x) :- base(?x)');
  await tellAll(['base(a)']);
  const found = await proof('p(?x)');
  expect(await results('p(?x)')).toEqual(['p(a)']);
  for (const [index, step] of found.steps.entries()) {
    expect(step.premises.every((premise) => premise < index)).toBe(true);
    expect(restsOn(found, index)).not.toContain(step.atom);
  }
});

test('lists premises in the order of the body, one for each literal, with built-ins and negations', async () => {
  const { tellAll, teach, proof } = await openSession();
  await teach('old(?x) :- ?n > 60, person(?x), not retired(?x, ?_), age(?x, ?n), ?m = ?n - 60, person(?x)');
  await tellAll(['person(ann)', 'age(ann, 70)']);
  expect(proofLines(await proof('old(ann)'))).toEqual([
    '0 builtin 70 > 60',
    '1 fact person(ann)',
    '2 absence not retired(ann, ?_)',
    '3 fact age(ann, 70)',
    '4 builtin 10 = 70 - 60',
    '5 rule old(ann) [0 1 2 3 4 1]',
  ]);
});

test('proves explicit negation like any other atom', async () => {
  const { tellAll, teach, proof } = await openSession();
  await teach('-flies(?x) :- penguin(?x), -special(?x)');
  await tellAll(['penguin(tux)', '-special(tux)']);
  expect(proofLines(await proof('-flies(tux)'))).toEqual([
    '0 fact penguin(tux)',
    '1 fact -special(tux)',
    '2 rule -flies(tux) [0 1]',
  ]);
});

test('proves an aggregate by the steps that contribute to it', async () => {
  const { tellAll, teach, proof } = await openSession();
  await teach('busy(?x) :- person(?x), ?n = count { ?y : task(?x, ?y) }, ?n >= 2');
  await tellAll(['person(ann)', 'task(ann, dig)', 'task(ann, cook)', 'task(bob, sing)']);
  const found = await proof('busy(ann)');
  expect(proofLines(found)).toEqual([
    '0 fact person(ann)',
    '1 fact task(ann, cook)',
    '2 fact task(ann, dig)',
    '3 aggregate 2 = count { ?y : task(ann, ?y) } [1 2]',
    '4 builtin 2 >= 2',
    '5 rule busy(ann) [0 3 4]',
  ]);
  expect(heights(found).at(-1)).toBe(1);
});

test('gives a step the scope of the fact or of the scoped rule, else null', async () => {
  const { tell, teach, proof } = await openSession();
  await teach('q(?x) :- p(?x)', { scope: 's' });
  await teach('r(?x) :- q(?x), o(?x)');
  await tell('p(a)', { scope: 's' });
  await tell('o(a)');
  const { steps } = await proof('r(a)');
  expect(steps.map(({ atom, scope }) => [atom, scope])).toEqual([
    ['p(a)', 's'],
    ['q(a)', 's'],
    ['o(a)', null],
    ['r(a)', null],
  ]);
});

test('proves an atom stored in several scopes by the unscoped fact', async () => {
  const { tell, proof } = await openSession();
  await tell('p(a)', { scope: 's' });
  const { id } = await tell('p(a)');
  expect((await proof('p(a)')).steps).toMatchObject([{ factId: id, scope: null }]);
});

test('proves an instance of a body by its literals', async () => {
  const { tellAll, teach, proof } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tellAll(['p(1)', 'p(2)']);
  const found = await proof('q(?x), ?x > 1');
  expect(proofLines(found)).toEqual([
    '0 fact p(2)',
    '1 rule q(2) [0]',
    '2 builtin 2 > 1',
    '3 rule q(2), 2 > 1 [1 2]',
  ]);
  expect(found.roots).toEqual([3]);
});

test('follows changes: another proof replaces one that lost a premise', async () => {
  const { tellAll, teach, proof, forget, tell } = await openSession();
  await teach('q(?x) :- a(?x)');
  await teach('q(?x) :- b(?x), c(?x)');
  await tellAll(['a(1)', 'b(1)', 'c(1)']);
  expect(proofLines(await proof('q(1)'))).toEqual(['0 fact a(1)', '1 rule q(1) [0]']);
  await forget('a(1)');
  expect(proofLines(await proof('q(1)'))).toEqual(['0 fact b(1)', '1 fact c(1)', '2 rule q(1) [0 1]']);
  await tell('a(1)');
  expect(proofLines(await proof('q(1)'))).toEqual(['0 fact a(1)', '1 rule q(1) [0]']);
});

test('returns the same proof for the same question, byte for byte, whatever was asked before', async () => {
  const rules = ['reach(?x, ?y) :- edge(?x, ?y)', 'reach(?x, ?z) :- reach(?x, ?y), reach(?y, ?z)'];
  const edges = ['edge(a, b)', 'edge(b, c)', 'edge(c, a)', 'edge(b, d)', 'edge(d, c)'];
  const proofs = new Set<string>();
  for (const before of [[], ['reach(?x, ?y)'], ['reach(?x, c)', 'reach(d, ?x)']]) {
    const { tellAll, teach, proof } = await openSession();
    for (const rule of rules) await teach(rule);
    await tellAll(edges);
    for (const question of before) await proof(question);
    proofs.add(JSON.stringify(await proof('reach(a, ?x)')));
  }
  expect(proofs.size).toBe(1);
});

test('returns a proof of ten thousand steps without a deep stack', async () => {
  const { engine, caller, teach, proof } = await openSession();
  await teach('reach(?x, ?y) :- edge(?x, ?y)');
  await teach('reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)');
  const facts = Array.from({ length: 5000 }, (_, at) => ({
    ...factInput('edge(a, b)'),
    args: [`n${at}`, `n${at + 1}`],
  }));
  await engine.tellAll(caller, facts);
  const found = await proof('reach(n0, n5000)');
  expect(found.steps).toHaveLength(10_000);
  expect(heights(found).at(-1)).toBe(5000);
  expect(found.truncated).toBeUndefined();
});

test('stops a proof at 100,000 steps and says so', async () => {
  const { engine, caller, teach, ask } = await openSession();
  await teach('q(?x) :- p(?x)');
  const facts = Array.from({ length: 50_001 }, (_, at) => ({ ...factInput('p(a)'), args: [`n${at}`] }));
  await engine.tellAll(caller, facts);
  const { results, proof } = await ask('q(?x)', { withProof: true, timeoutMs: 600_000 });
  expect(results).toHaveLength(50_001);
  expect(proof?.truncated).toBe(true);
  expect(proof?.steps).toHaveLength(100_000);
  expect(proof?.roots).toHaveLength(50_000);
  expect(proof?.steps[proof.roots[49_999] ?? 0]?.atom).toBe(results[49_999]);
});
