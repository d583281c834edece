import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constraintInputSchema } from '../contract/constraints.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { runTestsInputSchema } from '../contract/stored-tests.ts';
import { violationsQuerySchema } from '../contract/violations.ts';
import { parseDeclaration } from '../language/declaration-text.ts';
import { renderConstant } from '../language/print.ts';
import { openSession, type Session } from '../testing/engine-fixtures.ts';

/** What tests suppose, held against an engine in which it is so. */

const runs = process.env['LONG'] === '1' ? 200 : 6;

const constant = fc.constantFrom('a', 'b', 'c', 'New York', '1', '2');
const fact = fc
  .tuple(fc.constantFrom('p', 'q', 'r', 's', '-p', 'u'), constant, constant)
  .map(([predicate, first, second]) =>
    predicate === 'u' ? `u(${first})` : `${predicate}(${first}, ${second})`,
  );
const rules = [
  't(?x, ?y) :- p(?x, ?y), not u(?y)',
  't(?x, ?z) :- t(?x, ?y), q(?y, ?z)',
  'w(?x, ?n) :- p(?x, ?_), ?n = count { ?y : t(?x, ?y) }',
  '-q(?x, ?y) :- r(?y, ?x), -p(?x, ?_)',
  'r(?x, ?y) :- s(?x, ?y), u(?x)',
];
const declarations = [
  ':declare q(a, b) key a',
  ':declare s(a, b) key a on conflict supersede',
  ':declare p(a, b: integer)',
];
const constraints = [
  '!- t(?x, ?x) "loop"',
  '!- u(?x), not p(?x, ?_) "lonely"',
  '!- w(?_, ?n), ?n > 2 "many"',
];
const goals = [
  't(?x, ?y)',
  'w(?x, ?n)',
  '-q(?x, ?y)',
  'r(?x, ?y), not u(?y)',
  'q(a, ?x)',
  's(?x, ?_)',
  'p(?x, ?x)',
];
const names = ['loop', 'lonely', 'many', 'p', 'q', 's'];

async function worldOf(facts: readonly string[]): Promise<Session> {
  const session = await openSession();
  const { engine, caller } = session;
  for (const text of declarations) {
    const { name, arity, ...fields } = parseDeclaration(text);
    await engine.declare(caller, { ...declarationInputSchema.parse(fields), name, arity });
  }
  for (const text of rules) await session.teach(text);
  for (const text of constraints)
    await engine.addConstraint(caller, constraintInputSchema.parse({ text, name: text, mode: 'warn' }));
  if (facts.length > 0) await session.tellAll(facts);
  return session;
}

/** The expectations that are met where this is stored. */
async function expectationsIn({ engine, caller, ask }: Session): Promise<string[]> {
  const expectations: string[] = [];
  for (const goal of goals) {
    const variables = [...new Set(goal.match(/\?[a-z]\b/g))].map((variable) => variable.slice(1));
    const { bindings } = await ask(goal);
    const answers = new Set(
      bindings.map((binding) => {
        const values = variables.map((variable) => renderConstant(binding[variable] ?? ''));
        return values.length === 1 ? values.join() : `(${values.join(', ')})`;
      }),
    );
    expectations.push(`expect ${goal} = {${[...answers].join(', ')}}.`);
    expectations.push(answers.size > 0 ? `expect ${goal}.` : `expect not ${goal}.`);
  }
  const { violations } = await engine.violations(caller, violationsQuerySchema.parse({}));
  const violated = new Set(
    violations.map((each) => (each.kind === 'constraint' ? /"(\w+)"/.exec(each.name)?.[1] : each.predicate)),
  );
  for (const name of names) expectations.push(`expect ${violated.has(name) ? '' : 'not '}violation ${name}.`);
  return expectations;
}

/** The same with the first answer left out, or one that is none. */
function wrong(expectation: string): string {
  if (expectation.includes('violation'))
    return expectation.includes('not violation')
      ? expectation.replace('not violation', 'violation')
      : expectation.replace('violation', 'not violation');
  if (!expectation.includes('='))
    return expectation.replace(/^expect (not )?/, (_, not) => (not ? 'expect ' : 'expect not '));
  const isPair = /= \{(\(|\})/.test(expectation) && /\?y|\?n/.test(expectation);
  return expectation.replace(/= \{/, isPair ? '= {(none, none), ' : '= {none, ').replace(', }', '}');
}

test('a test passes exactly if it would over the facts that it supposes, and changes nothing', async () => {
  const arbitrary = fc.record({
    stored: fc.uniqueArray(fact, { maxLength: 12 }),
    given: fc.uniqueArray(fact, { maxLength: 4 }),
    withdrawn: fc.uniqueArray(fact, { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ stored, given, withdrawn }) => {
      const world = await worldOf(stored);
      const twin = await worldOf(stored);
      const absent = [...withdrawn, ...stored.slice(0, 2)].filter((each) => !given.includes(each));
      for (const text of new Set(absent))
        if (stored.includes(text)) await twin.forget(text, { truthVal: !text.startsWith('-') });
      for (const text of given) await twin.tell(text);
      const supposed = [...given, ...absent.map((each) => `not ${each}`)];
      const statements = supposed.length === 0 ? '' : `given ${supposed.join(', ')}.`;
      const expectations = await expectationsIn(twin);
      const before = await expectationsIn(world);
      const tests = [
        `test "all" { ${statements}\n${expectations.join('\n')} }`,
        ...expectations.map((each, at) => `test "wrong ${at}" { ${statements} ${wrong(each)} }`),
      ].join('\n');
      const { engine, caller } = world;
      const run = await engine.testRun(caller, runTestsInputSchema.parse({ text: tests, coverage: true }));
      expect(run.tests[0]?.failures).toEqual([]);
      expect(run.tests.filter(({ passed }) => passed).map(({ name }) => name)).toEqual(['all']);
      expect(await expectationsIn(world)).toEqual(before);
    }),
    { numRuns: runs },
  );
});
