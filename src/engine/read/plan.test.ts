import { expect, test } from 'vitest';
import { askInputSchema } from '../contract/inference.ts';
import { present } from '../base/assert.ts';
import { maxPlanSteps } from '../contract/plan.ts';
import { ruleInputSchema } from '../contract/rules.ts';
import { expectSameSteps } from '../testing/plan-steps.ts';
import { factInput, openSession, type Session } from '../testing/engine-fixtures.ts';

/** A program, and a question whose plan is compared with a file of testing/plans. */
interface PlanCase {
  readonly name: string;
  readonly rules: readonly (string | { readonly text: string; readonly scope: string })[];
  readonly facts: readonly string[];
  readonly ask: Record<string, unknown>;
}

const chain = (name: string, length: number): string[] =>
  Array.from({ length }, (_, at) => `${name}(n${at}, n${at + 1})`);
const ring = (name: string, length: number): string[] =>
  Array.from({ length }, (_, at) => `${name}(n${at}, n${(at * 7 + 1) % length})`);

const closure = ['tc(?x, ?y) :- edge(?x, ?y)', 'tc(?x, ?z) :- edge(?x, ?y), tc(?y, ?z)'];

const cases: readonly PlanCase[] = [
  {
    name: 'stored-join',
    rules: [],
    facts: [...chain('parent', 20), 'employed(n3)'],
    ask: { text: 'parent(n1, ?y), parent(?y, ?z), not employed(?z)' },
  },
  {
    name: 'rule',
    rules: ['grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)'],
    facts: chain('parent', 20),
    ask: { text: 'grandparent(n1, ?who)' },
  },
  { name: 'linear-recursion', rules: closure, facts: chain('edge', 50), ask: { text: 'tc(n1, ?y)' } },
  {
    name: 'left-recursion',
    rules: ['tc(?x, ?y) :- edge(?x, ?y)', 'tc(?x, ?z) :- tc(?x, ?y), edge(?y, ?z)'],
    facts: chain('edge', 50),
    ask: { text: 'tc(n1, ?y)' },
  },
  { name: 'closure', rules: closure, facts: ring('edge', 50), ask: { text: 'tc(?x, ?y)' } },
  {
    name: 'same-generation',
    rules: ['sg(?x, ?y) :- sibling(?x, ?y)', 'sg(?x, ?y) :- parent(?x, ?u), sg(?u, ?v), parent(?y, ?v)'],
    facts: [...chain('parent', 30), 'sibling(n5, n6)'],
    ask: { text: 'sg(n1, ?y)' },
  },
  {
    name: 'mutual-recursion',
    rules: [
      'even(?x, ?y) :- odd(?x, ?z), edge(?z, ?y)',
      'odd(?x, ?y) :- edge(?x, ?y)',
      'odd(?x, ?y) :- even(?x, ?z), edge(?z, ?y)',
    ],
    facts: chain('edge', 30),
    ask: { text: 'even(n0, ?y)' },
  },
  {
    name: 'triangles',
    rules: ['triangle(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z), edge(?z, ?x)'],
    facts: ring('edge', 60),
    ask: { text: 'triangle(?x, ?y, ?z)' },
  },
  {
    name: 'triangles-of-derived-edges',
    rules: [
      'link(?x, ?y) :- edge(?x, ?y)',
      'triangle(?x, ?y, ?z) :- link(?x, ?y), link(?y, ?z), link(?z, ?x)',
    ],
    facts: ring('edge', 60),
    ask: { text: 'triangle(?x, ?y, ?z)' },
  },
  {
    name: 'triangles-of-one-node',
    rules: ['link(?x, ?y) :- edge(?x, ?y)'],
    facts: ring('edge', 60),
    ask: { text: 'link(n1, ?y), link(?y, ?z), link(?z, n1)' },
  },
  {
    name: 'negation',
    rules: [
      ...closure,
      'node(?x) :- edge(?x, ?_)',
      'apart(?x, ?y) :- node(?x), node(?y), not tc(?x, ?y), ?x != ?y',
    ],
    facts: chain('edge', 30),
    ask: { text: 'apart(n1, ?y)' },
  },
  {
    name: 'negation-tested-in-the-join',
    rules: ['won(?x) :- move(?x, ?y), not move(?y, ?_)', 'open(?x) :- move(?x, ?y), not won(?y)'],
    facts: ring('move', 40),
    ask: { text: 'open(?x)' },
  },
  {
    name: 'aggregates',
    rules: [
      'owes(?who, ?sum) :- person(?who), ?sum = sum { ?amount, ?id : invoice(?id, ?who, ?amount) }',
      'heavy(?who, ?double) :- owes(?who, ?sum), ?sum > 10, ?double = ?sum * 2',
      'debtors(?n) :- ?n = count { ?who : heavy(?who, ?_), person(?who) }',
    ],
    facts: ['person(ann)', 'person(bob)', 'invoice(i1, ann, 7)', 'invoice(i2, ann, 8)'],
    ask: { text: 'debtors(?n)' },
  },
  {
    name: 'scopes',
    rules: [
      { text: 'likes(?x, ?y) :- says(?x, ?y)', scope: 'rumours' },
      'friends(?x, ?y) :- likes(?x, ?y), likes(?y, ?x)',
    ],
    facts: ['says(ann, bob)', 'says(bob, ann)'],
    ask: { text: 'friends(ann, ?who)' },
  },
  {
    name: 'asked-whole',
    rules: ['type(?x, ?c) :- kind(?x, ?c)', 'seen(?x, ?c) :- thing(?x), type(?x, ?c)'],
    facts: Array.from({ length: 40 }, (_, at) => [`thing(t${at})`, `kind(t${at}, k)`]).flat(),
    ask: { text: 'seen(?x, ?c)' },
  },
  {
    name: 'few-of-a-class',
    rules: [
      'type(?x, ?c) :- kind(?x, ?c)',
      'type(?x, ?d) :- type(?x, ?c), subclass(?c, ?d)',
      'member(?x, ?y) :- works(?x, ?z), part(?z, ?y)',
    ],
    facts: [
      ...Array.from({ length: 2000 }, (_, at) => [
        `kind(p${at}, ${at % 2 === 0 ? 'student' : 'teacher'})`,
        `works(p${at}, g${at % 100})`,
      ]).flat(),
      ...Array.from({ length: 100 }, (_, at) => `part(g${at}, d${at % 10})`),
      'subclass(student, person)',
      'subclass(teacher, person)',
    ],
    ask: { text: 'type(?x, person), member(?x, d3)' },
  },
  {
    name: 'three-layers-of-many',
    rules: Array.from({ length: 200 }, (_, at) =>
      at % 50 < 3
        ? `q${at}(?x, ?z) :- ${at % 50 === 0 ? 'link' : `q${at - 1}`}(?x, ?y), link(?y, ?z)`
        : `other${at}(?x) :- link(?x, ?_)`,
    ),
    facts: ring('link', 20),
    ask: { text: 'q52(n1, ?z)' },
  },
];

async function load({ rules, facts }: Pick<PlanCase, 'rules' | 'facts'>): Promise<Session> {
  const session = await openSession();
  const { engine, caller } = session;
  for (const rule of rules)
    await engine.teach(caller, ruleInputSchema.parse(typeof rule === 'string' ? { text: rule } : rule));
  await engine.tellAll(
    caller,
    facts.map((fact) => factInput(fact)),
  );
  return session;
}

test.each(cases)('the plan of $name is the one in the file', async (each) => {
  const { engine, caller } = await load(each);
  const input = askInputSchema.parse(each.ask);
  const { text, truncated } = await engine.plan(caller, input);
  expect(truncated).toBe(false);
  const program = [...each.rules.map((rule) => JSON.stringify(rule)), JSON.stringify(each.ask)];
  const shown = program.length > 10 ? program.slice(-1) : program;
  await expect([...shown, '', text, ''].join('\n')).toMatchFileSnapshot(`../testing/plans/${each.name}.txt`);
});

test.each(cases)('the steps that answer $name are those of its plan', async (each) => {
  const { engine, caller } = await load(each);
  const input = askInputSchema.parse(each.ask);
  const { plan } = await engine.plan(caller, input);
  const answer = await engine.ask(caller, { ...input, plan: true });
  const run = present(answer.plan, 'a plan was asked for');
  expect(run.rows).toBe(answer.total);
  expectSameSteps(run, plan);
});

test('an answer with its plan is the answer without', async () => {
  for (const each of cases) {
    const { engine, caller } = await load(each);
    const input = askInputSchema.parse({ ...each.ask, withProof: true });
    const plain = await engine.ask(caller, input);
    const { plan, planText, ...counted } = await engine.ask(caller, { ...input, plan: true });
    expect(plan?.step).toBe('question');
    expect(planText).toContain('rows ');
    expect({ ...counted, elapsedMs: 0 }).toEqual({ ...plain, elapsedMs: 0 });
  }
});

test('a plan of thousands of rules is bounded, and that of a question that reaches three shows three', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  const importing = engine.import(caller, false);
  const teach = (text: string): Promise<unknown> =>
    importing.teach([{ rule: ruleInputSchema.parse({ text }), isDefault: false }]);
  for (let at = 0; at < 2500; at++) {
    await teach(`deep${at + 1}(?x) :- deep${at}(?x), link(?x, ?_)`);
    await teach(`wide(?x) :- link(?x, c${at})`);
  }
  await importing.end();
  await engine.tell(caller, factInput('deep0(a)'));
  const planned = async (text: string) => {
    const { plan, text: shown, truncated } = await engine.plan(caller, askInputSchema.parse({ text }));
    return { steps: shown.split('\n').length, size: JSON.stringify(plan).length, truncated, shown };
  };
  for (const question of ['deep2500(?x)', 'wide(?x)', 'wide(?x), deep2500(?x), not wide(?x)']) {
    const { steps, size, truncated, shown } = await planned(question);
    expect(truncated, question).toBe(true);
    expect(steps).toBeLessThan(maxPlanSteps + 100);
    expect(size).toBeLessThan(2_000_000);
    expect(shown).toContain(`more than ${maxPlanSteps} steps`);
  }
  const { shown, truncated } = await planned('deep3(?x)');
  expect(truncated).toBe(false);
  expect(shown.match(/rule deep/g)?.length).toBe(3);
});

test('a plan that nobody waits for is not made', async () => {
  const { engine, caller } = await load({ rules: closure, facts: chain('edge', 5) });
  const gone = { ...caller, signal: AbortSignal.abort() };
  await expect(engine.plan(gone, askInputSchema.parse({ text: 'tc(?x, ?y)' }))).rejects.toThrow(
    'the client has gone',
  );
});

test('a cycle in the rules is shown once', async () => {
  const { engine, caller } = await load({
    rules: ['a(?x) :- b(?x)', 'b(?x) :- c(?x)', 'c(?x) :- a(?x)', 'a(?x) :- s(?x)'],
    facts: ['s(k)'],
  });
  const { text } = await engine.plan(caller, askInputSchema.parse({ text: 'a(?x)' }));
  expect(text.match(/table a\(\?\)/g)?.length).toBe(2);
  expect(text).toContain('table a(?) [shown elsewhere]');
});

test('counts the rows that wait for negation', async () => {
  const facts = [...chain('edge', 9), 'from(n7)', ...Array.from({ length: 12 }, (_, at) => `node(n${at})`)];
  const rules = [...closure, 'apart(?x) :- node(?x), from(?f), not tc(?f, ?x)'];
  const { engine, caller } = await load({ rules, facts });
  const answer = await engine.ask(caller, askInputSchema.parse({ text: 'apart(?x)', plan: true }));
  const text = present(answer.planText, 'a plan was asked for');
  expect(text).toMatch(/-> wait \(.*rows 12,/);
  expect(text).toMatch(/-> not tc\(\?f, \?x\) \[existence by argument 1, 2\] \(.*rows 10,/);
});

test('a body begins with the derived atom of which few facts can be copied', async () => {
  const { tellAll, teach, ask } = await openSession();
  await tellAll(Array.from({ length: 300 }, (_, at) => `is_a(n${at}, kind${at % 2})`));
  await tellAll(Array.from({ length: 300 }, (_, at) => `degree(n${at}, u${at})`));
  await teach('type(?x, ?c) :- is_a(?x, ?c)');
  await teach('type(?x, ?d) :- type(?x, ?c), below(?c, ?d)');
  await teach('alumnus(?u, ?x) :- degree(?x, ?u)');
  await teach('graduate(?u, ?x) :- alumnus(?u, ?x)');
  const { results, planText } = await ask('type(?x, kind1), graduate(u7, ?x)', { plan: true });
  expect(results).toEqual(['type(n7, kind1), graduate(u7, n7)']);
  const demands = [...(planText ?? '').matchAll(/demand (\w+)/g)].map(([, name]) => name);
  expect(demands[0]).toBe('graduate');
});
