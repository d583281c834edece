import { describe, expect, it } from 'vitest';
import { parseKnowledgeText } from './knowledge-text.ts';
import { layOutTestStatement } from './layout.ts';
import type { KnowledgeTest } from './test-text.ts';

function testsIn(text: string): KnowledgeTest[] {
  return parseKnowledgeText(text, { tests: true }).items.filter((item) => item.kind === 'test');
}

function errorsIn(text: string): string[] {
  return parseKnowledgeText(text, { tests: true }).errors.map(
    ({ range, message }) => `${range.startLine}:${range.startColumn} ${message}`,
  );
}

/** The statements of a test with these lines, laid out; or its errors. */
function statementsOf(lines: string): string[] {
  const text = `test "t" {\n${lines}\n}`;
  const errors = errorsIn(text);
  return errors.length > 0 ? errors : (testsIn(text)[0]?.statements.map(layOutTestStatement) ?? []);
}

describe('a test', () => {
  it('is read with what it supposes and expects', () => {
    const text = `% about families
test "carl has two grandparents" {
  given parent(bob, carl), -likes(bob, "x, y"), not parent(eve, carl). % and
  expect grandparent(?x, carl) = ann, New York.
  expect parent(?x, ?y), ?x != ?y = {(ann, bob), ("a,b", carl)}.
  expect not not p(a), q(b).
  expect violation "nobody is their own parent".
  expect not violation parent.
}`;
    expect(errorsIn(text)).toEqual([]);
    const [test] = testsIn(text);
    expect(test).toMatchObject({
      name: 'carl has two grandparents',
      given: [
        { predicate: 'parent', args: ['bob', 'carl'], negated: false },
        { predicate: 'likes', args: ['bob', 'x, y'], negated: true },
      ],
      withdrawn: [{ predicate: 'parent', args: ['eve', 'carl'] }],
      expectations: [
        {
          kind: 'answers',
          text: 'grandparent(?x, carl) = ann, New York',
          variables: ['?x'],
          answers: [
            { kind: 'values', values: ['ann'] },
            { kind: 'values', values: ['New York'] },
          ],
        },
        {
          kind: 'answers',
          variables: ['?x', '?y'],
          answers: [{ values: ['ann', 'bob'] }, { values: ['a,b', 'carl'] }],
        },
        { kind: 'noAnswer', goal: [{ predicate: 'p', naf: true }, { predicate: 'q' }] },
        { kind: 'violation', name: 'nobody is their own parent' },
        { kind: 'noViolation', name: 'parent' },
      ],
    });
    const [first] = test?.expectations ?? [];
    expect(text.slice(first?.span.start, first?.span.end)).toBe(
      'expect grandparent(?x, carl) = ann, New York.',
    );
  });

  it.each([
    ['expect p(a) = p(a).', 'expect p(a) = p(a).'],
    ['expect rainy() = rainy.', 'expect rainy() = rainy().'],
    ['expect p(?x) = {}.', 'expect p(?x) = {}.'],
    ['expect p(?x) = { }.', 'expect p(?x) = {}.'],
    ['expect p(?x) = { a , b c } .', 'expect p(?x) = a, b c.'],
    ['expect p(?x, b) = p(a, b), p(c, b).', 'expect p(?x, b) = p(a, b), p(c, b).'],
    ['expect -p(?x) = -p(a).', 'expect -p(?x) = -p(a).'],
    ['expect p(?x) = -1, 3.5, "a(b)".', 'expect p(?x) = -1, 3.5, "a(b)".'],
    ['expect ?n = count { ?x : p(?x) } = 3.', 'expect ?n = count { ?x : p(?x) } = 3.'],
    ['expect p(?x), ?y = ?x + 1 = (1, 2).', 'expect p(?x), ?y = ?x + 1 = (1, 2).'],
    ['expect violation(a).', 'expect violation(a).'],
    ['expect violation\n p-q.', 'expect violation "p-q".'],
    ['given p(a), q.', 'given p(a), q().'],
  ])('%s is laid out as %s', (written, wanted) => {
    expect(statementsOf(`${written}\nexpect p(a).`)[0]).toBe(wanted);
  });

  it.each([
    ['expect p(?x) = (a, b).', '2:16 an answer of this goal is one value; this one has 2 values'],
    ['expect p(?x, ?y) = a.', '2:20 an answer of this goal is (?x, ?y); this one has 1 values'],
    ['expect p(?x) = ?y.', '2:16 an answer is a constant: variables stand in the goal'],
    ['expect p(?x) = q(a).', '2:16 this is no answer of p(?x)'],
    ['expect p(?x), q(?x) = p(a).', '2:23 an atom is an answer only of a goal that is one atom'],
    ['expect p(a) = a(b), b.', '2:15 this is no answer of p(a)'],
    ['expect p(a), q(b) = c.', '2:21 the goal has no variables: write expect goal, expect not goal, or = {}'],
    ['expect rainy = rainy.', '2:8 an expectation asks at least one atom'],
    ['expect not p(?x) = a.', '2:18 expect not has no answers: write expect goal = the answers'],
    ['expect p(?x) = .', '2:16 expected an answer ({} is none), found “.”'],
    [
      'expect q(a), ?x < 3.',
      '2:14 nothing binds ?x of ?x < 3: mention it in an atom of the body that is not under not',
    ],
    ['given p(?x).\nexpect p(a).', '2:9 a test supposes facts, which are ground: they have no variables'],
    [
      'given 3 = 4.\nexpect p(a).',
      '2:9 expected a comma or a full stop (in a built-in a constant of more than one word is quoted), found “=”',
    ],
    [
      'suppose p(a).\nexpect p(a).',
      '2:1 a statement of a test begins with given or expect and white space, found “s”',
    ],
    ['expect p(a)\nexpect q(a).', '2:11 a statement ends with a full stop: write . here'],
    ['expect p(a)', '2:11 a statement ends with a full stop: write . here'],
    ['given p(a).', '1:6 a test expects something: expect goal.'],
  ])('%s is an error', (lines, error) => {
    expect(statementsOf(lines)).toEqual([error]);
  });

  it('goes on behind each error, and ends before the next test if it has no closing brace', () => {
    const text = [
      'test "first" {',
      '  given p(.',
      '  expect p(a) = .',
      '  expect p(b).',
      'test "second" {',
      '  expect q(?x, "}) = a',
      '}',
      'test "third { expect no. ',
      'test "fourth" { expect r(a). }',
      'test "fourth" { expect r(b). }',
      'p(a).',
      'test "last" { expect s(a).',
    ].join('\n');
    expect(errorsIn(text).map((error) => error.split(/[,(]/)[0])).toEqual([
      '2:12 expected ',
      '3:17 expected an answer ',
      '1:6 the test "first" has no closing brace',
      '6:16 this quoted text has no closing quotation mark on its line',
      '8:6 this quoted text has no closing quotation mark on its line',
      '10:6 another test has this name',
      '12:6 the test "last" has no closing brace',
    ]);
    expect(testsIn(text).map(({ name, isWhole }) => [name, isWhole])).toEqual([
      ['first', false],
      ['second', false],
      ['fourth', true],
      ['fourth', true],
      ['last', false],
    ]);
  });

  it('is refused where only knowledge stands, and its statements are not taken for it', () => {
    const { items, errors } = parseKnowledgeText('test "t" {\n  expect p(a).\n}\np(b).');
    expect(errors.map(({ message }) => message)).toEqual([
      'a test cannot stand here: write it in a file that ends with .test.kb',
    ]);
    expect(items.map(({ kind }) => kind)).toEqual(['fact']);
  });
});
