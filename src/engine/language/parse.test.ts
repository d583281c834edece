import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import type { Literal } from '../contract/language.ts';
import {
  parseAtom,
  parseBody,
  parseConstraint,
  parseFreeTextLine,
  parseFreeTextQuestion,
  parseProgram,
  parseRule,
} from './parse.ts';
import { renderAtom, renderBody, renderConstraint, renderRule } from './print.ts';

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

test('parses facts and rules, one statement per full stop', () => {
  expect(statements('p(a, b). -p(a).\nh(?x) :- b(?x, ?y), not c(?y).')).toEqual([
    'p(a, b)',
    '-p(a)',
    'h(?x) :- b(?x, ?y), not c(?y)',
  ]);
});

test('reads p alone as p() in editors and import', () => {
  expect(statements('p. -q. a.b. h :- p, not q, -r.')).toEqual([
    'p()',
    '-q()',
    'a.b()',
    'h() :- p(), not q(), -r()',
  ]);
});

test('starts a comment at % and # at the start of a statement or after white space, to the end of the line', () => {
  expect(
    statements('% one\n# two\np(a). % three. q(b).\nh(?x) :- % four\n  p(?x), # five (\r\n q(?x) % six\n.'),
  ).toEqual(['p(a)', 'h(?x) :- p(?x), q(?x)']);
  expect(statements('h(?c) :- p(?a), ?c % note\n = # note\n ?a % note\n + % note\n 1.')).toEqual([
    'h(?c) :- p(?a), ?c = ?a + 1',
  ]);
});

test('treats % and # as ordinary characters inside argument lists', () => {
  expect(statements('p(50%, #1, a.b). p( % x, # y ).')).toEqual(['p(50%, #1, a.b)', 'p(% x, # y)']);
});

test('ends a statement only at a full stop after a complete literal and before white space or the end', () => {
  expect(statements('p(a.b). q(a. b). ver(1.2.3).')).toEqual(['p(a.b)', 'q(a. b)', 'ver(1.2.3)']);
  expect(statements('h(?x) :- p(?x), ?x > 3.5. q.')).toEqual(['h(?x) :- p(?x), ?x > 3.5', 'q()']);
  expect(statements('h(?x) :- p(?x), ?x > 3.')).toEqual(['h(?x) :- p(?x), ?x > 3']);
  expect(errors('p(a).q(b).')).toHaveLength(1);
});

test('parses a quoted argument as a JSON string literal', () => {
  expect(parseAtom('p("a, b", "", "\\u00e9\\n\\"", " x ")').args).toEqual(['a, b', '', 'é\n"', ' x ']);
  expect(refusal(() => parseAtom('p("a\\x")')).status).toBe(400);
  expect(refusal(() => parseAtom('p("a)')).status).toBe(400);
  expect(refusal(() => parseAtom('p("a"b)')).status).toBe(400);
});

test('rejects with 400 a quoted argument that starts with ? or has a lone surrogate', () => {
  expect(refusal(() => parseAtom('p("?x")')).status).toBe(400);
  expect(refusal(() => parseRule('h(?x) :- p(?x), ?x != "?y"')).status).toBe(400);
  expect(refusal(() => parseAtom('p("\\ud800")')).status).toBe(400);
  expect(refusal(() => parseAtom('p(\ud800)')).status).toBe(400);
});

test('rejects with 400 an argument or operand of more than 65,536 bytes', () => {
  const long = 'é'.repeat(32_769);
  const said = /line 1, column \d+: a constant has at most 65536 bytes of UTF-8; this one has 65538/;
  expect(parseAtom(`p("${long.slice(1)}")`).args).toEqual([long.slice(1)]);
  for (const bad of [`p(${long})`, `p(a, "${long}")`])
    expect(refusal(() => parseAtom(bad)).message).toMatch(said);
  expect(refusal(() => parseRule(`h(?x) :- p(?x), ?x != "${long}"`)).message).toMatch(said);
  expect(refusal(() => parseBody(`?x < ${'1'.repeat(65_538)}`)).message).toMatch(said);
});

test('reads ? followed by letters, digits or _ as a variable', () => {
  expect(parseAtom('p(?x1, ?größe, ?_, ?_a)').args).toEqual(['?x1', '?größe', '?_', '?_a']);
  for (const bad of ['p(?)', 'p(?a-b)', 'p(?a b)', 'p(?a.b)', 'p(??)'])
    expect(refusal(() => parseAtom(bad)).status, bad).toBe(400);
});

test('ignores white space around arguments, including line breaks', () => {
  expect(parseAtom('p(\n  New York ,\t"x" \n)').args).toEqual(['New York', 'x']);
  expect(parseAtom('p()').args).toEqual([]);
  expect(parseAtom('p( )').args).toEqual([]);
});

test('rejects an empty argument and one with a character that must be quoted', () => {
  for (const bad of ['p(a,)', 'p(,a)', 'p(a(b))', 'p(a"b)', 'p(a\\b)', 'p(a\nb)', 'p(a\tb)', 'p(a\u2028b)'])
    expect(refusal(() => parseAtom(bad)).status, bad).toBe(400);
});

test('accepts any predicate without forbidden characters', () => {
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

test("rejects with 400 the built-ins' names as the predicate of a fact or a head", () => {
  for (const bad of ['mod(a).', '<(a, b).', '=(a, b).', '+(a, b, c).', 'mod(?x) :- p(?x).'])
    expect(errors(bad), bad).toHaveLength(1);
});

test('accepts not, count and the like as ordinary names before (', () => {
  expect(statements('not(a). h(?x) :- not(?x), not not(?x), count(?x), not -not(?x), avg(?x).')).toEqual([
    'not(a)',
    'h(?x) :- not(?x), not not(?x), count(?x), not -not(?x), avg(?x)',
  ]);
});

test('parses built-ins and aggregates with and without white space', () => {
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

test('rejects an ambiguous operand that reads as arithmetic', () => {
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

test('accepts a line of one whole ground atom or rule without a full stop', () => {
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
  // A statement over several lines, several on one line, and a word alone require their full stop.
  for (const bad of ['h(?x) :-\n  p(?x)\nq(b).', 'p(a). q(b)\nr(c).', 'p\nq(b).', 'p(?x)\nq(b).'])
    expect(errors(bad), bad).not.toHaveLength(0);
});

test('accepts a rule in text without its full stop, and rejects a fact as a rule', () => {
  expect(renderRule(parseRule('h(?x):-b(?x)'))).toBe('h(?x) :- b(?x)');
  expect(renderRule(parseRule(' h(?x) :- b(?x) . '))).toBe('h(?x) :- b(?x)');
  expect(refusal(() => parseRule('h(a).')).message).toContain('body');
  expect(refusal(() => parseRule('h(?x) :- b(?x). i(?x) :- b(?x).')).status).toBe(400);
  expect(refusal(() => parseRule('h(?x) :- .')).status).toBe(400);
  expect(refusal(() => parseRule('')).status).toBe(400);
  expect(refusal(() => parseBody('p(a). .')).status).toBe(400);
});

test('reports a syntax error as 400 with line and column', () => {
  const error = refusal(() => parseRule('h(?x) :-\n  b(?x) c(?x).'));
  expect(error.code).toBe('ValidationException');
  expect(error.message).toContain('line 2, column 9');
  expect(error.members.errors?.[0]).toMatchObject({ path: 'text' });
  expect(error.members).toMatchObject({ line: 2, column: 9 });
});

test('counts lines and columns in UTF-16 units from 1', () => {
  expect(errors('p(😀). )')).toEqual(['1:8-1:9 expected a predicate, found “)”']);
  expect(errors('p(a).\r\n\rq(').map((each) => each.slice(0, 7))).toEqual(['3:3-3:3']);
});

test('reports every error to an editor: parsing continues with the next statement', () => {
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

test("records the positions of a statement's parts", () => {
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

test('accepts at most 64 arguments in an atom and 256 literals in a body', () => {
  const args = (count: number): string => Array.from({ length: count }, () => 'a').join(', ');
  expect(parseAtom(`p(${args(64)})`).args).toHaveLength(64);
  expect(refusal(() => parseAtom(`p(${args(65)})`)).status).toBe(400);
  expect(parseBody(Array.from({ length: 256 }, () => 'p').join(', '))).toHaveLength(256);
  expect(refusal(() => parseBody(Array.from({ length: 257 }, () => 'p').join(', '))).status).toBe(400);
});

test('reads only lines that are wholly statements in free text', () => {
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

test('reads a body with a question mark in free text as a question, and so an atom with a variable', () => {
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

test('parses hostile text of a megabyte in one pass, and bounds nesting', () => {
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

test('reads a constraint, with the reason after its body', () => {
  const { literals, reason } = parseConstraint('!- adult(?x), age(?x, ?a), ?a < 18 "of age".');
  expect(renderConstraint(literals)).toBe('!- adult(?x), age(?x, ?a), ?a < 18');
  expect(reason).toBe('of age');
  expect(parseConstraint('!- not p(a)').reason).toBeNull();
  expect(() => parseConstraint('p(a)')).toThrow('a constraint is !-');
  expect(() => parseConstraint('!- p(?x) "open')).toThrow('no closing quotation mark');
});

test('takes constraints among statements only where they are allowed; without white space !- begins a predicate', () => {
  const text = 'p(a). !- p(?x) "why". q(?x) :- p(?x).\n!- q(b)\n!-r(a).';
  const { statements, constraints, errors } = parseProgram(text, { allowsConstraints: true });
  expect(errors).toEqual([]);
  expect(statements).toHaveLength(3);
  expect(constraints.map(({ reason, span }) => [reason, text.slice(span.start, span.end)])).toEqual([
    ['why', '!- p(?x) "why".'],
    [null, '!- q(b)'],
  ]);
  expect(parseProgram('!- p(?x).').errors[0]?.message).toContain('POST /constraints');
  expect(parseFreeTextLine('!- p(a).')).toBeNull();
});
