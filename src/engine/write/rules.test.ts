import { expect, test } from 'vitest';
import { chainOf, openSession, refusal, ruleInput, startTime } from '../testing/engine-fixtures.ts';

/** Teaching, changing and deleting rules: contract section 4. */

const text = 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)';

test('returns the text, an id and the generation of a taught rule', async () => {
  const { teach } = await openSession();
  expect(await teach('grandparent(?x,?z):-parent(?x,?y) , parent(?y,?z).')).toEqual({
    status: 'asserted',
    rule: text,
    etag: '"r1-1"',
    id: 'r1',
    generation: 1,
  });
});

test('treats a rule as head and body like its text', async () => {
  const { engine, caller, teach } = await openSession();
  const atom = (predicate: string, ...args: string[]) => ({ predicate, args });
  const given = ruleInput({
    head: atom('grandparent', '?x', '?z'),
    body: [atom('parent', '?x', '?y'), atom('parent', '?y', '?z')],
  });
  expect(await engine.teach(caller, given)).toMatchObject({ status: 'asserted', rule: text });
  expect((await teach(text)).status).toBe('unchanged');
});

test('reports the same rule up to renaming of variables as unchanged; another order of the body is another rule', async () => {
  const { teach, engine, caller } = await openSession();
  const { id } = await teach(text);
  expect(await teach('grandparent(?a, ?c) :- parent(?a, ?b), parent(?b, ?c)')).toMatchObject({
    status: 'unchanged',
    rule: text,
    id,
    generation: 1,
  });
  const others = [
    'grandparent(?x, ?z) :- parent(?y, ?z), parent(?x, ?y)',
    'grandparent(?x, ?z) :- parent(?x, ?z), parent(?z, ?z)',
    '-grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
  ];
  for (const other of others) expect((await teach(other)).status).toBe('asserted');
  expect((await teach(text, { scope: 's' })).status).toBe('asserted');
  expect(await engine.rules(caller)).toHaveLength(5);
});

test('lists rules in the order of creation with all their fields', async () => {
  const { teach, engine, caller, clock, tellAll, results } = await openSession();
  await teach('-q(?x) :- p(?x, ?_), ?x != a', { name: 'first', description: 'words', scope: 's' });
  clock.advance(10);
  await teach(text, { enabled: false });
  await tellAll(['p(a, b)', 'p(b, c)', 'p(c, d)'], { scope: 's' });
  expect(await results('-q(?x)')).toEqual(['-q(b)', '-q(c)']);
  const [first, other] = await engine.rules(caller);
  expect(first).toEqual({
    id: 'r1',
    text: '-q(?x) :- p(?x, ?_), ?x != a',
    head: { predicate: 'q', args: ['?x'], negated: true },
    body: [
      { predicate: 'p', args: ['?x', '?_'], negated: false, naf: false },
      { predicate: '!=', args: ['?x', 'a'], negated: false, naf: false },
    ],
    scope: 's',
    name: 'first',
    description: 'words',
    enabled: true,
    createdAt: startTime,
    etag: '"r1-1"',
    fired: 2,
  });
  expect(other).toMatchObject({
    enabled: false,
    createdAt: startTime + 10,
    fired: 0,
    name: null,
    scope: null,
  });
});

test('ignores a disabled rule until it is enabled', async () => {
  const { teach, tell, results, changeRule } = await openSession();
  const { id } = await teach('q(?x) :- p(?x)', { enabled: false });
  await tell('p(a)');
  expect(await results('q(?x)')).toEqual([]);
  expect(await changeRule(id, { enabled: true })).toMatchObject({ status: 'updated', id });
  expect(await results('q(?x)')).toEqual(['q(a)']);
  await changeRule(id, { enabled: false });
  expect(await results('q(?x)')).toEqual([]);
});

test('keeps a disabled rule that is taught again disabled, unless enabled: true is given', async () => {
  const { teach, tell, results, engine, caller } = await openSession();
  await teach('q(?x) :- p(?x)', { enabled: false });
  await tell('p(a)');
  expect((await teach('q(?x) :- p(?x)')).status).toBe('unchanged');
  expect((await engine.rules(caller))[0]?.enabled).toBe(false);
  expect((await teach('q(?x) :- p(?x)', { enabled: true })).status).toBe('updated');
  expect((await engine.rules(caller))[0]?.enabled).toBe(true);
  expect(await results('q(?x)')).toEqual(['q(a)']);
  expect((await teach('q(?x) :- p(?x)', { enabled: true })).status).toBe('unchanged');
});

test('disables a rule that is taught again with enabled: false, and reports it as changed', async () => {
  const { teach, tell, results } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tell('p(a)');
  expect(await teach('q(?x) :- p(?x)', { enabled: false })).toMatchObject({ status: 'updated' });
  expect(await results('q(?x)')).toEqual([]);
  expect(await teach('q(?x) :- p(?x)', { enabled: false })).toMatchObject({ status: 'unchanged' });
});

test('changes only the given ones of enabled, name and description by PUT', async () => {
  const { teach, changeRule, engine, caller } = await openSession();
  const { id } = await teach(text, { name: 'old', description: 'old words', scope: 's' });
  expect(await changeRule(id, { name: 'new' })).toEqual({
    status: 'updated',
    rule: text,
    id,
    etag: '"r1-2"',
    generation: 2,
  });
  expect((await engine.rules(caller))[0]).toMatchObject({
    name: 'new',
    description: 'old words',
    enabled: true,
    scope: 's',
    text,
  });
  expect(await changeRule(id, { name: 'new', enabled: true })).toMatchObject({
    status: 'unchanged',
    generation: 2,
  });
});

test('replaces a rule by PUT with a whole rule: same id, same time of creation', async () => {
  const { teach, changeRule, engine, caller, tell, results, clock } = await openSession();
  const { id } = await teach('q(?x) :- p(?x)', { name: 'old' });
  await teach('r(?x) :- p(?x)');
  await tell('p(a)');
  expect(await results('q(?x)')).toEqual(['q(a)']);
  clock.advance(50);
  expect(await changeRule(id, { text: 'q(?x, found) :- p(?x)', scope: null })).toMatchObject({
    status: 'updated',
    rule: 'q(?x, found) :- p(?x)',
    id,
  });
  expect(await results('q(?x)')).toEqual([]);
  expect(await results('q(?x, ?y)')).toEqual(['q(a, found)']);
  const listed = await engine.rules(caller);
  expect(listed.map((rule) => rule.id)).toEqual([id, 'r2']);
  expect(listed[0]).toMatchObject({ createdAt: startTime, name: null });
});

test('refuses PUT onto another existing rule, and reports it as unchanged onto itself', async () => {
  const { teach, changeRule } = await openSession();
  const { id } = await teach('q(?x) :- p(?x)');
  const other = await teach('q(?x) :- r(?x)');
  const refused = await refusal(changeRule(other.id, { text: 'q(?y) :- p(?y)' }));
  expect(refused.code).toBe('Conflict');
  expect(refused.message).toContain(id);
  expect((await changeRule(id, { text: 'q(?x) :- p(?x)' })).status).toBe('unchanged');
  expect((await changeRule(other.id, { text: 'q(?y) :- p(?y)', scope: 's' })).status).toBe('updated');
});

test('refuses to change or delete an unknown rule', async () => {
  const { changeRule, engine, caller, teach } = await openSession();
  const { id } = await teach(text);
  await engine.forgetRule(caller, id);
  for (const gone of [id, 'r99', 'x'])
    for (const call of [changeRule(gone, { enabled: false }), engine.forgetRule(caller, gone)])
      expect((await refusal(call)).code).toBe('RuleNotFound');
});

test('does not count as lost what is stored or true for another reason', async () => {
  const { teach, tellAll, engine, caller, results } = await openSession();
  const { id } = await teach('q(?x) :- p(?x)');
  await teach('r(?x) :- q(?x)');
  await teach('r(?x) :- s(?x)');
  await tellAll(['p(a)', 'p(b)', 'q(b)', 's(a)']);
  expect(await results('r(?x)')).toEqual(['r(a)', 'r(b)']);
  expect(await engine.forgetRule(caller, id)).toEqual({
    status: 'retracted',
    dependentsCount: 1,
    generation: 5,
  });
  expect(await results('r(?x)')).toEqual(['r(a)', 'r(b)']);
  expect(await results('q(?x)')).toEqual(['q(b)']);
});

test('counts every conclusion that is lost with a deleted rule, requested before or not', async () => {
  const { teach, tellAll, engine, caller, results } = await openSession();
  const { id } = await teach('q(?x) :- p(?x)');
  await teach('r(?x, ?x) :- q(?x)');
  const disabled = await teach('t(?x) :- p(?x)', { enabled: false });
  const scoped = await teach('s(?x) :- p(?x)', { scope: 'plan' });
  await tellAll(['p(a)', 'p(b)', 'p(c)']);
  expect(await results('q(a)')).toHaveLength(1);
  expect((await engine.forgetRule(caller, id)).dependentsCount).toBe(6);
  expect((await engine.forgetRule(caller, disabled.id)).dependentsCount).toBe(0);
  expect((await engine.forgetRule(caller, scoped.id)).dependentsCount).toBe(0);
});

test('names the losses of a deleted rule that are not computed in time', async () => {
  const { teach, tell, engine, caller } = await openSession();
  await tell('p(1)');
  await teach('n(?y) :- n(?x), ?y = ?x + 1');
  await teach('q(?x) :- m(?x)');
  const { id } = await teach('n(?x) :- m(?x)');
  const start = await teach('m(?x) :- p(?x)');
  expect(await engine.forgetRule(caller, start.id)).toMatchObject({
    consequencesComplete: false,
    notWorkedOut: expect.arrayContaining(['n/1']),
  });
  expect(await engine.forgetRule(caller, id)).not.toHaveProperty('notWorkedOut');
});

test('makes a rule that is deleted and taught again a new one', async () => {
  const { teach, engine, caller } = await openSession();
  const { id } = await teach(text);
  await engine.forgetRule(caller, id);
  expect(await teach(text)).toMatchObject({ status: 'asserted', id: 'r3', generation: 3 });
});

test('rejects an unsafe rule and names the variable', async () => {
  const { teach, engine, caller } = await openSession();
  const unsafe: [string, string][] = [
    ['q(?x, ?y) :- p(?x)', '?y'],
    ['q(?x) :- p(?x), ?x < ?z', '?z'],
    ['q(?_) :- p(?_)', '?_'],
    ['q(?a) :- ?a = ?b, p(?x)', '?'],
  ];
  for (const [rule, variable] of unsafe) {
    const refused = await refusal(teach(rule));
    expect(refused.code, rule).toBe('RuleException');
    expect(refused.message, rule).toContain(variable);
  }
  expect(await engine.rules(caller)).toEqual([]);
});

test('rejects an invalid rule with the position of the error', async () => {
  const { teach } = await openSession();
  for (const bad of [
    'q(?x)',
    'q(?x) :- ',
    'q(?x :- p(?x)',
    ':- p(a)',
    'q(a).',
    'q(?x) :- p(?x). r(?x) :- p(?x)',
  ])
    expect((await refusal(teach(bad))).code, bad).toBe('ValidationException');
  const { message, members } = await refusal(teach('q(?x) :- p(?x),,'));
  expect(`${message} ${JSON.stringify(members)}`).toMatch(/1.*16|column/);
});

test('rejects a built-in as head, and built-ins of a wrong arity', async () => {
  const { teach } = await openSession();
  for (const bad of ['<(?x, ?y) :- p(?x, ?y)', 'mod(?x, ?y, ?z) :- p(?x, ?y, ?z)'])
    expect((await refusal(teach(bad))).status, bad).toBe(400);
});

test('rejects unstratifiable rules and names the cycle', async () => {
  const { teach, engine, caller, changeRule } = await openSession();
  await teach('win(?x) :- move(?x, ?y), lost(?y)');
  const refused = await refusal(teach('lost(?x) :- position(?x), not win(?x)'));
  expect(refused.code).toBe('RuleException');
  expect(refused.message).toContain('win');
  expect(refused.message).toContain('lost');
  expect((await refusal(teach('p(?x) :- q(?x), not p(?x)'))).code).toBe('RuleException');
  expect((await refusal(teach('n(?n) :- ?n = count { ?x : n(?x) }'))).code).toBe('RuleException');
  expect(await engine.rules(caller)).toHaveLength(1);
  const { id } = await teach('lost(?x) :- gone(?x)');
  const text = 'lost(?x) :- position(?x), not win(?x)';
  expect((await refusal(changeRule(id, { text }))).code).toBe('RuleException');
  expect((await engine.rules(caller)).map((rule) => rule.text)).toContain('lost(?x) :- gone(?x)');
});

test('treats p and -p as independent relations: each may depend on the absence of the other', async () => {
  const { teach, tellAll, results } = await openSession();
  expect((await teach('-p(?x) :- q(?x), not p(?x)')).status).toBe('asserted');
  await tellAll(['q(a)', 'q(b)', 'p(b)', 'p(c)', '-p(c)']);
  expect(await results('-p(?x)')).toEqual(['-p(a)', '-p(c)']);
  expect(await results('p(?x)')).toEqual(['p(b)', 'p(c)']);
});

test('detects a cycle over the unscoped rules together with those of any one scope', async () => {
  const { teach } = await openSession();
  await teach('p(?x) :- base(?x), not q(?x)', { scope: 's' });
  expect((await teach('q(?x) :- base(?x), not p(?x)', { scope: 't' })).status).toBe('asserted');
  expect((await refusal(teach('q(?x) :- p(?x)', { scope: 's' }))).code).toBe('RuleException');
  expect((await refusal(teach('q(?x) :- p(?x)'))).code).toBe('RuleException');
});

test('includes disabled rules in stratification', async () => {
  const { teach } = await openSession();
  await teach('p(?x) :- base(?x), not q(?x)', { enabled: false });
  expect((await refusal(teach('q(?x) :- p(?x)', { enabled: false }))).code).toBe('RuleException');
});

test('refuses one of two contradictory rules that are taught at once', async () => {
  const { teach, engine, caller } = await openSession();
  const taught = await Promise.allSettled([
    teach('p(?x) :- base(?x), not q(?x)'),
    teach('q(?x) :- base(?x), not p(?x)'),
  ]);
  expect(taught.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(await engine.rules(caller)).toHaveLength(1);
});

test('answers by a rule whose 256 body literals are a path, with its proof', async () => {
  const { tellAll, teach, ask } = await openSession();
  await tellAll(chainOf(257));
  const body = Array.from({ length: 256 }, (_, at) => `edge(?x${at}, ?x${at + 1})`).join(', ');
  await teach(`path(?x0, ?x256) :- ${body}`);
  const { results, proof } = await ask('path(?x, ?y)', { withProof: true });
  expect(results).toEqual(['path(n0, n256)', 'path(n1, n257)']);
  expect(proof?.steps).toHaveLength(257 + 2);
});

test('accepts 1 to 256 body literals', async () => {
  const { teach, tell, results } = await openSession();
  const body = (count: number): string => Array.from({ length: count }, (_, at) => `p(?v${at})`).join(', ');
  expect((await teach(`q(?v0) :- ${body(256)}`)).status).toBe('asserted');
  expect((await refusal(teach(`q(?v0) :- ${body(257)}`))).status).toBe(400);
  await tell('p(a)');
  expect(await results('q(?x)')).toEqual(['q(a)']);
});

test('validates rules as text without storing them', async () => {
  const { engine, caller, tell } = await openSession();
  await tell('parent(a, b)');
  const good = await engine.validateRules(caller, `${text}.\nparent(c, d).`);
  expect(good).toMatchObject({ valid: true, rules: 1, facts: 1 });
  const bad = await engine.validateRules(caller, 'q(?x) :- p(?y).');
  expect(bad.valid).toBe(false);
  expect(bad.diagnostics.map(({ code }) => code)).toContain('unsafe_variable');
  expect(await engine.rules(caller)).toEqual([]);
});

test('loads thousands of rules and answers', async () => {
  const { engine, caller, tell, results, proof } = await openSession();
  const chain = Array.from({ length: 2000 }, (_, at) =>
    ruleInput({
      head: { predicate: `p${at + 1}`, args: ['?x'] },
      body: [{ predicate: `p${at}`, args: ['?x'] }],
    }),
  );
  const fan = Array.from({ length: 2000 }, (_, at) =>
    ruleInput({ text: `goal(?x) :- p${at}(?x), m${at}(?x), not blocked(?x)` }),
  );
  await Promise.all([...chain, ...fan].map((rule) => engine.teach(caller, rule)));
  await tell('p0(a)');
  await tell('m1999(a)');
  expect(await results('goal(?x)', { timeoutMs: 600_000 })).toEqual(['goal(a)']);
  expect((await proof('p1500(a)', { timeoutMs: 600_000 })).steps).toHaveLength(1501);
  expect(await engine.rules(caller)).toHaveLength(4000);
});

test('counts in fired the conclusions that inference drew with a rule', async () => {
  const { teach, tellAll, results, engine, caller } = await openSession();
  await teach('q(?x) :- p(?x)');
  await tellAll(['p(a)', 'p(b)', 'p(c)']);
  await results('q(?x)');
  await results('q(?x)');
  expect((await engine.rules(caller))[0]?.fired).toBe(3);
  expect(engine.counters().rulesFired).toBe(3);
});
