import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import type { Literal } from '../contract/language.ts';
import {
  parseAtom,
  parseBody,
  parseFreeTextLine,
  parseFreeTextQuestion,
  parseProgram,
  parseRule,
} from './parse.ts';
import { renderAtom, renderBody, renderRule } from './print.ts';

/** The statements of a program as rendered; its errors fail the test. */
function statements(text: string): string[] {
  const program = parseProgram(text);
  expect(program.errors).toEqual([]);
  return program.statements.map((each) =>
    each.kind === 'fact' ? renderAtom(each.atom) : renderRule(each.rule),
  );
}

/** Errors as `line:column-line:column message`. */
function errors(text: string): string[] {
  return parseProgram(text).errors.map(
    ({ range, message }) =>
      `${range.startLine}:${range.startColumn}-${range.endLine}:${range.endColumn} ${message}`,
  );
}

function refusal(act: () => unknown): EngineError {
  try {
    act();
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

test('facts and rules are read, one statement per full stop', () => {
  expect(statements('p(a, b). -p(a).\nh(?x) :- b(?x, ?y), not c(?y).')).toEqual([
    'p(a, b)',
    '-p(a)',
    'h(?x) :- b(?x, ?y), not c(?y)',
  ]);
});

test('p alone is p() in editors and import', () => {
  expect(statements('p. -q. a.b. h :- p, not q, -r.')).toEqual([
    'p()',
    '-q()',
    'a.b()',
    'h() :- p(), not q(), -r()',
  ]);
});

test('% and # start a comment at the start of a statement or after white space, to the end of the line', () => {
  expect(
    statements('% one\n# two\np(a). % three. q(b).\nh(?x) :- % four\n  p(?x), # five (\r\n q(?x) % six\n.'),
  ).toEqual(['p(a)', 'h(?x) :- p(?x), q(?x)']);
  expect(statements('h(?c) :- p(?a), ?c % note\n = # note\n ?a % note\n + % note\n 1.')).toEqual([
    'h(?c) :- p(?a), ?c = ?a + 1',
  ]);
});

test('inside argument lists % and # are ordinary characters', () => {
  expect(statements('p(50%, #1, a.b). p( % x, # y ).')).toEqual(['p(50%, #1, a.b)', 'p(% x, # y)']);
});

test('a full stop ends a statement only after a complete literal and before white space or the end', () => {
  expect(statements('p(a.b). q(a. b). ver(1.2.3).')).toEqual(['p(a.b)', 'q(a. b)', 'ver(1.2.3)']);
  expect(statements('h(?x) :- p(?x), ?x > 3.5. q.')).toEqual(['h(?x) :- p(?x), ?x > 3.5', 'q()']);
  expect(statements('h(?x) :- p(?x), ?x > 3.')).toEqual(['h(?x) :- p(?x), ?x > 3']);
  expect(errors('p(a).q(b).')).toHaveLength(1);
});

test('a quoted argument is a JSON string literal', () => {
  expect(parseAtom('p("a, b", "", "\\u00e9\\n\\"", " x ")').args).toEqual(['a, b', '', 'é\n"', ' x ']);
  expect(refusal(() => parseAtom('p("a\\x")')).status).toBe(400);
  expect(refusal(() => parseAtom('p("a)')).status).toBe(400);
  expect(refusal(() => parseAtom('p("a"b)')).status).toBe(400);
});

test('a quoted argument that starts with ? is 400, and so is a lone surrogate', () => {
  expect(refusal(() => parseAtom('p("?x")')).status).toBe(400);
  expect(refusal(() => parseRule('h(?x) :- p(?x), ?x != "?y"')).status).toBe(400);
  expect(refusal(() => parseAtom('p("\\ud800")')).status).toBe(400);
  expect(refusal(() => parseAtom('p(\ud800)')).status).toBe(400);
});

test('a variable is ? and letters, digits or _', () => {
  expect(parseAtom('p(?x1, ?größe, ?_, ?_a)').args).toEqual(['?x1', '?größe', '?_', '?_a']);
  for (const bad of ['p(?)', 'p(?a-b)', 'p(?a b)', 'p(?a.b)', 'p(??)'])
    expect(refusal(() => parseAtom(bad)).status, bad).toBe(400);
});

test('white space around arguments is no part of them, line breaks included', () => {
  expect(parseAtom('p(\n  New York ,\t"x" \n)').args).toEqual(['New York', 'x']);
  expect(parseAtom('p()').args).toEqual([]);
  expect(parseAtom('p( )').args).toEqual([]);
});

test('an argument that is empty or holds a character to be quoted is an error', () => {
  for (const bad of ['p(a,)', 'p(,a)', 'p(a(b))', 'p(a"b)', 'p(a\\b)', 'p(a\nb)', 'p(a\tb)', 'p(a\u2028b)'])
    expect(refusal(() => parseAtom(bad)).status, bad).toBe(400);
});

test('a predicate is anything without its forbidden characters', () => {
  for (const name of [
    'a.b',
    'http://x/y#z',
    '<p',
    '=>',
    'a?b',
    '3',
    'a-b',
    ':',
    'ß',
    'not',
    'count',
    'sum',
    '+5',
  ])
    expect(parseAtom(`${name}(a)`)).toEqual({ predicate: name, args: ['a'], negated: false });
  for (const bad of [
    'a;b(c)',
    "a'b(c)",
    'a`b(c)',
    '?p(a)',
    '--p(a)',
    'a.(b)',
    `${'p'.repeat(257)}(a)`,
    'p (a)',
  ])
    expect(refusal(() => parseAtom(bad)).status, bad).toBe(400);
});

test("the built-ins' names are 400 as the predicate of a fact or a head", () => {
  for (const bad of ['mod(a).', '<(a, b).', '=(a, b).', '+(a, b, c).', 'mod(?x) :- p(?x).'])
    expect(errors(bad), bad).toHaveLength(1);
});

test('not, count and the like are ordinary names where ( follows', () => {
  expect(statements('not(a). h(?x) :- not(?x), not not(?x), count(?x), not -not(?x), avg(?x).')).toEqual([
    'not(a)',
    'h(?x) :- not(?x), not not(?x), count(?x), not -not(?x), avg(?x)',
  ]);
});

test('built-ins and aggregates are read with and without white space', () => {
  const texts: [string, Literal][] = [
    ['?a<?b', { predicate: '<', args: ['?a', '?b'], negated: false, naf: false }],
    ['?a <= -3.5', { predicate: '<=', args: ['?a', '-3.5'], negated: false, naf: false }],
    ['alice != ?b', { predicate: '!=', args: ['alice', '?b'], negated: false, naf: false }],
    ['"New York" = ?b', { predicate: '=', args: ['New York', '?b'], negated: false, naf: false }],
    ['-3 < ?x', { predicate: '<', args: ['-3', '?x'], negated: false, naf: false }],
    ['?c=?a+?b', { predicate: '+', args: ['?a', '?b', '?c'], negated: false, naf: false }],
    ['?c=?a-1', { predicate: '-', args: ['?a', '1', '?c'], negated: false, naf: false }],
    ['?c = 3 - -1', { predicate: '-', args: ['3', '-1', '?c'], negated: false, naf: false }],
    ['?c = ?a mod ?b', { predicate: 'mod', args: ['?a', '?b', '?c'], negated: false, naf: false }],
    ['mod = mod mod mod', { predicate: 'mod', args: ['mod', 'mod', 'mod'], negated: false, naf: false }],
    ['not = ?x', { predicate: '=', args: ['not', '?x'], negated: false, naf: false }],
    ['?x = count', { predicate: '=', args: ['?x', 'count'], negated: false, naf: false }],
    ['not =p(a)', { predicate: '=p', args: ['a'], negated: false, naf: true }],
    ['-3(a)', { predicate: '3', args: ['a'], negated: true, naf: false }],
    [
      '?n=count{?y:p(?x,?y),q(?y)}',
      {
        aggregate: 'count',
        result: '?n',
        over: ['?y'],
        body: [
          { predicate: 'p', args: ['?x', '?y'], negated: false, naf: false },
          { predicate: 'q', args: ['?y'], negated: false, naf: false },
        ],
      },
    ],
  ];
  for (const [text, literal] of texts) expect(parseBody(text), text).toEqual([literal]);
  for (const name of ['count', 'sum', 'min', 'max', 'avg'])
    expect(renderBody(parseBody(`?n = ${name} { ?v, ?id : item(?id, ?v) }`))).toBe(
      `?n = ${name} { ?v, ?id : item(?id, ?v) }`,
    );
});

test('what looks like one operand but reads as arithmetic is refused', () => {
  for (const bad of [
    '?x = bob-smith',
    '?x = 2024-01-15',
    '?d = ?a + ?b + ?c',
    '?a < ?b + 1',
    '?x = New York',
    'not ?a < ?b',
    'not not p(a)',
    'not',
  ])
    expect(refusal(() => parseBody(bad)).status, bad).toBe(400);
});

test('a line that is one whole ground atom or rule needs no full stop', () => {
  expect(statements('p(a)\n  -q(b) % why\n\nh(?x) :- p(?x)\nr(c).')).toEqual([
    'p(a)',
    '-q(b)',
    'h(?x) :- p(?x)',
    'r(c)',
  ]);
  const text = 'p(a)  \nq(b).';
  expect(parseProgram(text).statements.map(({ span }) => text.slice(span.start, span.end))).toEqual([
    'p(a)',
    'q(b).',
  ]);
  expect(statements('p(a)\n.\nh(?x)\n  :- p(?x),\n  q(?x).\ni(?x) :- p(?x)\n  , q(?x).')).toEqual([
    'p(a)',
    'h(?x) :- p(?x), q(?x)',
    'i(?x) :- p(?x), q(?x)',
  ]);
  // A statement over several lines, one beside another, and a word alone end with their full stop.
  for (const bad of ['h(?x) :-\n  p(?x)\nq(b).', 'p(a). q(b)\nr(c).', 'p\nq(b).', 'p(?x)\nq(b).'])
    expect(errors(bad), bad).not.toHaveLength(0);
});

test('a rule in text may lack its full stop; a fact is no rule', () => {
  expect(renderRule(parseRule('h(?x):-b(?x)'))).toBe('h(?x) :- b(?x)');
  expect(renderRule(parseRule(' h(?x) :- b(?x) . '))).toBe('h(?x) :- b(?x)');
  expect(refusal(() => parseRule('h(a).')).message).toContain('body');
  expect(refusal(() => parseRule('h(?x) :- b(?x). i(?x) :- b(?x).')).status).toBe(400);
  expect(refusal(() => parseRule('h(?x) :- .')).status).toBe(400);
  expect(refusal(() => parseRule('')).status).toBe(400);
  expect(refusal(() => parseBody('p(a). .')).status).toBe(400);
});

test('a syntax error is 400 with line and column', () => {
  const error = refusal(() => parseRule('h(?x) :-\n  b(?x) c(?x).'));
  expect(error.code).toBe('ValidationException');
  expect(error.message).toContain('line 2, column 9');
  expect(error.members.errors?.[0]).toMatchObject({ path: 'text' });
  expect(error.members).toMatchObject({ line: 2, column: 9 });
});

test('lines and columns count UTF-16 units from 1', () => {
  expect(errors('p(😀). )')).toEqual(['1:8-1:9 expected a predicate, found “)”']);
  expect(errors('p(a).\r\n\rq(').map((each) => each.slice(0, 7))).toEqual(['3:3-3:3']);
});

test('an editor sees every error: reading goes on with the next statement', () => {
  const program = parseProgram(
    'p(a b c)) . q(b).\nr(,). s(c).\nt(?x). u("x. y" z). v(d).\nw(a) :-\n  y(a)\nx(b).',
  );
  expect(
    program.statements.map((each) => (each.kind === 'fact' ? renderAtom(each.atom) : renderRule(each.rule))),
  ).toEqual(['q(b)', 's(c)', 'v(d)', 'w(a) :- y(a)', 'x(b)']);
  expect(program.errors.map(({ code, range }) => [code, range.startLine])).toEqual([
    ['syntax', 1],
    ['syntax', 2],
    ['unsafe_variable', 3],
    ['syntax', 3],
    ['syntax', 5],
  ]);
});

test('a statement knows the places of its parts', () => {
  const text = 'h(?x) :- not b( ?x, "c" ), ?n = count { ?y : p(?y) }.';
  const [statement] = parseProgram(text).statements;
  if (statement?.kind !== 'rule') throw new Error('a rule was expected');
  const cut = (span: { start: number; end: number }): string => text.slice(span.start, span.end);
  expect(cut(statement.span)).toBe(text);
  expect([cut(statement.head.name), ...statement.head.terms.map(cut)]).toEqual(['h', '?x']);
  expect(statement.body.map((source) => cut(source.span))).toEqual([
    'not b( ?x, "c" )',
    '?n = count { ?y : p(?y) }',
  ]);
  expect(statement.body[0]?.terms.map(cut)).toEqual(['?x', '"c"']);
  expect(statement.body[1]?.terms.map(cut)).toEqual(['?n', '?y']);
  expect(statement.body[1]?.body.map((source) => cut(source.name))).toEqual(['p']);
});

test('an atom has at most 64 arguments and a body at most 256 literals', () => {
  const args = (count: number): string => Array.from({ length: count }, () => 'a').join(', ');
  expect(parseAtom(`p(${args(64)})`).args).toHaveLength(64);
  expect(refusal(() => parseAtom(`p(${args(65)})`)).status).toBe(400);
  expect(parseBody(Array.from({ length: 256 }, () => 'p').join(', '))).toHaveLength(256);
  expect(refusal(() => parseBody(Array.from({ length: 257 }, () => 'p').join(', '))).status).toBe(400);
});

test('in free text only a line that is wholly statements counts', () => {
  const read = (line: string): string[] | null =>
    parseFreeTextLine(line)?.map((each) =>
      each.kind === 'fact' ? renderAtom(each.atom) : renderRule(each.rule),
    ) ?? null;
  expect(read('parent(alice, bob). -flies(tweety).')).toEqual(['parent(alice, bob)', '-flies(tweety)']);
  expect(read(' h(?x) :- b(?x), ?x > 3. ')).toEqual(['h(?x) :- b(?x), ?x > 3']);
  expect(read(' parent(alice, "b, c") ')).toEqual(['parent(alice, "b, c")']);
  expect(read('h(?x) :- b(?x), ?x > 3')).toEqual(['h(?x) :- b(?x), ?x > 3']);
  for (const line of [
    '',
    'Hello.',
    'Hello world.',
    'parent(alice, bob). That is all.',
    'See parent(alice, bob).',
    'p(?x).',
    'p(?x)',
    'p(a). q(b)',
    'p(a), q(b)',
    'p(a)!',
    'see (there)',
    'h :- p(a).',
    'h(a) :- p.',
    '% p(a).',
    'p(a). % note',
    'p(a). # note.',
    '# Heading.',
  ])
    expect(read(line), line).toBeNull();
});

test('in free text a body with a question mark asks, and so does an atom with a variable', () => {
  for (const line of ['p(?x)', ' -p(?x, a) ', 'p(?_)'])
    expect(parseFreeTextQuestion(line), line).toEqual(parseBody(line));
  for (const body of [
    'p(a)',
    'p()',
    '-p(?x)',
    'p(?x), not q(?x, ?_), ?x > 3',
    '?n = count { ?y : p(?y) }',
    'p("a?")',
    '?a = 1 + 2',
  ])
    for (const mark of ['?', ' ? '])
      expect(parseFreeTextQuestion(body + mark), body).toEqual(parseBody(body));
  for (const line of [
    '',
    '?',
    '??',
    'p(a)',
    'p',
    'p?',
    'Who is it?',
    'p(?x).',
    'p(?x)?.',
    'p(?x)??',
    'p(?x), q(?x)',
    'not p(?x)',
    '?x > 3',
    'p(?x)? q(?x)?',
    'p(?x) ? % note',
    'p(?x), q?',
    '3(?x) <',
    '=(?x, ?y)',
  ])
    expect(parseFreeTextQuestion(line), line).toBeNull();
});

test('hostile text of a megabyte is read in one pass, and nesting is bounded', () => {
  const million = 1_000_000;
  const shapes = [
    '('.repeat(million),
    '"'.repeat(million),
    '\\"'.repeat(million / 2),
    '.'.repeat(million),
    '. '.repeat(million / 2),
    ' '.repeat(million),
    'p('.repeat(million / 2),
    'a'.repeat(million),
    `p(${'a '.repeat(million / 2)}`,
    `p(${' '.repeat(million)}`,
    '?x = '.repeat(million / 5),
    'h :- ?n = count { ?x : '.repeat(million / 25),
    `h :- ${'not '.repeat(million / 4)}`,
    '-'.repeat(million),
    '%'.repeat(million),
    'p\n'.repeat(million / 2),
    ':-'.repeat(million / 2),
    '\ud800'.repeat(million),
  ];
  for (const shape of shapes) {
    const program = parseProgram(shape);
    expect(program.errors.length).toBeLessThanOrEqual(1000);
    expect(parseFreeTextQuestion(`${shape}?`)).toBeNull();
  }
});
