import { describe, expect, test } from 'vitest';
import { constraintInputSchema } from '../contract/constraints.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { runTestsInputSchema } from '../contract/stored-tests.ts';
import type { TestFailure, TestRun } from '../contract/tests.ts';
import { parseDeclaration } from '../language/declaration-text.ts';
import { type Fields, openSession, proofLines, refusal, type Session } from '../testing/engine-fixtures.ts';

/** Tests of knowledge, run over what is stored: contract section 18. */

async function familySession(): Promise<Session> {
  const session = await openSession();
  await session.tellAll(['parent(ann, bob)', 'parent(bob, carl)', 'parent(bob, New York)']);
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z), not banned(?x)');
  return session;
}

function run({ engine, caller }: Session, tests: string, fields: Fields = {}): Promise<TestRun> {
  return engine.testRun(caller, runTestsInputSchema.parse({ text: tests, ...fields }));
}

/** The failures of one test with these statements. */
async function failures(session: Session, statements: string, fields: Fields = {}): Promise<TestFailure[]> {
  const { tests } = await run(session, `test "t" {\n${statements}\n}`, fields);
  return tests[0]?.failures ?? [];
}

async function declare({ engine, caller }: Session, text: string): Promise<void> {
  const { name, arity, ...fields } = parseDeclaration(text);
  await engine.declare(caller, { ...declarationInputSchema.parse(fields), name, arity });
}

function forbid({ engine, caller }: Session, text: string, fields: Fields = {}): Promise<unknown> {
  return engine.addConstraint(caller, constraintInputSchema.parse({ text, ...fields }));
}

describe('a test', () => {
  test('passes if all that it expects is so under what it supposes, and nothing is stored', async () => {
    const session = await familySession();
    const text = `
      test "as stored" {
        expect grandparent(ann, carl).
        expect grandparent(ann, ?x) = New York, carl.
        expect grandparent(?x, ?y) = (ann, carl), (ann, "New York").
        expect parent(ann, ?x) = parent(ann, bob).
        expect parent(ann, bob) = parent(ann, bob).
        expect parent(?x, ?_) = ann, bob.
        expect ?n = count { ?x : parent(bob, ?x) } = 2.
        expect not grandparent(bob, ?_).
        expect grandparent(bob, ?x) = {}.
      }
      test "supposed" {
        given parent(carl, dan), -parent(carl, eve), not parent(bob, New York).
        expect grandparent(?x, ?y) = (ann, carl), (bob, dan).
        expect -parent(carl, ?x) = eve.
      }
      test "absent" { given banned(ann). expect not grandparent(?_, ?_). }`;
    const { generation } = await session.ask('parent(ann, bob)');
    const { tests, ...counts } = await run(session, text);
    expect(tests.map(({ name, failures: found }) => [name, found])).toEqual([
      ['as stored', []],
      ['supposed', []],
      ['absent', []],
    ]);
    expect(counts).toMatchObject({ passed: 3, failed: 0, generation });
    expect(await session.results('parent(carl, ?x)')).toEqual([]);
    const [rule] = await session.engine.rules(session.caller);
    expect(rule?.fired).toBe(0);
  });

  test('fails with what is missing and unexpected, why not, and the proof', async () => {
    const session = await familySession();
    const [compared, none, some] = await failures(
      session,
      `given parent(carl, dan), banned(ann).
expect grandparent(?x, ?y) = (ann, carl).
expect not parent(bob, ?x).
expect grandparent(ann, ?x).`,
    );
    expect(compared).toMatchObject({
      expectation: 'grandparent(?x, ?y) = (ann, carl)',
      line: 3,
      column: 1,
      message: '1 of the expected answers missing, 1 unexpected',
      expected: ['(ann, carl)'],
      found: ['(bob, dan)'],
      missing: ['(ann, carl)'],
      unexpected: ['(bob, dan)'],
      attempts: [{ satisfied: ['parent(ann, bob)', 'parent(bob, carl)'], missing: ['not banned(ann)'] }],
    });
    expect(proofLines(compared?.proof ?? { roots: [], steps: [] })).toEqual([
      '0 fact parent(bob, carl)',
      '1 fact parent(carl, dan)',
      '2 absence not banned(bob)',
      '3 rule grandparent(bob, dan) [0 1 2]',
    ]);
    expect(none).toMatchObject({
      message: 'expected no answer, found 2',
      unexpected: ['parent(bob, New York)', 'parent(bob, carl)'],
    });
    expect(none?.proof?.roots).toHaveLength(2);
    expect(some).toMatchObject({
      message: 'expected an answer, found none',
      attempts: [{ rule: 'grandparent(ann, ?x)', ruleId: '', missing: ['grandparent(ann, ?x)'] }],
    });
  });

  test('names the limit that it exceeds, and the others run all the same', async () => {
    const session = await familySession();
    await session.teach('number(?n) :- number(?m), ?n = ?m + 1');
    const { tests } = await run(
      session,
      `test "endless" { given number(0). expect parent(ann, bob). expect not number(-1). }
       test "other" { expect parent(ann, bob). }`,
      { maxDerivations: 1000 },
    );
    expect(tests.map(({ passed, failures: found }) => [passed, found.length])).toEqual([
      [false, 1],
      [true, 0],
    ]);
    expect(tests[0]?.failures[0]).toMatchObject({ expectation: 'not number(-1)', line: 1 });
    expect(tests[0]?.failures[0]?.message).toMatch(/1000 derivations/);
  });

  test('hints at what was meant, also if nothing could fail', async () => {
    const session = await familySession();
    const [failure] = await failures(session, 'expect parnet(ann, bob).');
    expect(failure?.hints?.[0]).toMatch(/parent\(ann, bob\)/);
    const { tests } = await run(
      session,
      'test "t" { expect not grandparnet(ann, ?_). expect not banned(bob). }',
    );
    expect(tests[0]).toMatchObject({ passed: true });
    expect(tests[0]?.hints).toHaveLength(1);
    expect(tests[0]?.hints?.[0]).toMatch(/grandparent/);
  });

  test('gives a fact that is true now, whatever validity is stored', async () => {
    const session = await familySession();
    await session.tell('parent(carl, dan)', { validFrom: '2999-01-01T00:00:00Z' });
    expect(await failures(session, 'given parent(carl, dan). expect parent(carl, dan).')).toEqual([]);
    expect(await failures(session, 'expect not parent(carl, dan).')).toEqual([]);
  });

  test('is asked in its scope, gives its facts there, and puts arguments by name in order', async () => {
    const session = await familySession();
    await declare(session, ':declare likes(who, whom)');
    await session.tell('likes(ann, tea)', { scope: 'a' });
    await session.tell('likes(ann, jam)', { scope: 'b' });
    const text = `given likes{whom: rum, who: ann}, not likes(ann, jam).
      expect likes(ann, ?x) = `;
    expect(await failures(session, `${text} rum, tea.`, { scope: 'a' })).toEqual([]);
    expect(await failures(session, `${text} rum, tea.`)).toEqual([]);
    expect(await failures(session, `${text} rum, jam.`, { scope: 'b' })).toMatchObject([
      { missing: ['jam'] },
    ]);
  });

  test('that cannot be read is refused with its place', async () => {
    const session = await familySession();
    const wrong = await refusal(run(session, 'test "a" {\n  expect .\n}'));
    expect(wrong.code).toBe('ValidationException');
    expect(wrong.message).toMatch(/text: line 2, column 10/);
    expect((await refusal(run(session, 'p(a).'))).message).toMatch(
      /line 1, column 1: only tests can stand here/,
    );
    expect((await refusal(run(session, '% nothing'))).message).toMatch(/there is no test/);
  });
});

describe('a violation', () => {
  test('of a constraint is expected by its name, its text or its reason, in the supposed state', async () => {
    const session = await familySession();
    await forbid(session, '!- parent(?x, ?x)', { name: 'own', description: 'nobody is', mode: 'reject' });
    const statements = `given parent(eve, eve).
      expect violation own. expect violation "nobody is". expect violation "!- parent(?x, ?x)".`;
    expect(await failures(session, statements)).toEqual([]);
    expect(await failures(session, 'expect not violation own.')).toEqual([]);
    expect(await failures(session, 'given parent(eve, eve).\nexpect not violation own.')).toMatchObject([
      { message: 'expected no violation, found 1', unexpected: ['parent(eve, eve) ("own")'] },
    ]);
    const [missing, unknown] = await failures(session, 'expect violation own.\nexpect not violation owm.');
    expect(missing).toMatchObject({
      message: 'expected a violation, found none',
      attempts: [{ missing: ['parent(?x, ?x)'] }],
    });
    expect(unknown).toMatchObject({
      message: 'no constraint and no declared predicate has the name "owm"',
      hints: ['did you mean "own"?'],
    });
  });

  test('of a key or of a type is expected by the predicate', async () => {
    const session = await openSession();
    await declare(session, ':declare lives_in(who: entity, where: entity) key who on conflict reject');
    await declare(session, ':declare age(who, years: integer) key who on conflict supersede check reject');
    await session.tellAll(['lives_in(ann, rome)', 'age(ann, 70)']);
    expect(await failures(session, 'expect not violation lives_in. expect not violation age.')).toEqual([]);
    expect(await failures(session, 'given lives_in(ann, bonn). expect violation lives_in.')).toEqual([]);
    expect(
      await failures(session, 'given lives_in(eve, bonn), lives_in(eve, rome). expect violation lives_in.'),
    ).toEqual([]);
    expect(
      await failures(
        session,
        'given lives_in(ann, bonn), not lives_in(ann, rome).\nexpect violation lives_in.',
      ),
    ).toMatchObject([{ message: 'expected a violation, found none' }]);
    expect(
      await failures(session, 'given lives_in(ann, bonn).\nexpect not violation lives_in.'),
    ).toMatchObject([
      {
        unexpected: [
          '2 facts of lives_in/2 have the key who ann at the same time: lives_in(ann, rome), lives_in(ann, bonn)',
        ],
      },
    ]);
    // A key that supersedes has no two facts: the later one ends the earlier.
    const superseded = 'given age(ann, 71). expect age(ann, ?x) = 71. expect not violation age.';
    expect(await failures(session, superseded)).toEqual([]);
    expect(await failures(session, 'given age(ann, old). expect violation age.')).toEqual([]);
  });
});

test('coverage tells the rules and literals that no test exercised', async () => {
  const session = await familySession();
  await session.teach('blocked(?x) :- banned(?x), parent(?x, ?_), severe(?x)');
  await session.teach('unused(?x) :- parent(?x, ?_)');
  const { coverage } = await run(
    session,
    `test "t" {
       given banned(ann).
       expect grandparent(bob, ?x) = {}.
       expect not blocked(ann).
     }
     test "u" { expect grandparent(ann, carl). }`,
    { coverage: true },
  );
  expect(coverage).toMatchObject({
    rules: 3,
    rulesExercised: 1,
    literals: 7,
    literalsExercised: 5,
    complete: true,
    uncovered: [
      { exercised: false, literals: [{ at: 2, literal: 'severe(?x)' }] },
      { exercised: false, rule: 'unused(?x) :- parent(?x, ?_)', literals: [{ at: 0 }] },
    ],
  });
});
