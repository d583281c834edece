import { describe, expect, it } from 'vitest';
import { ArgumentNames } from './argument-names.ts';
import { formatKnowledgeText, parseKnowledgeText } from './knowledge-text.ts';

const family = `% Families.
:declare parent(elder: entity, % the older one
                younger: entity) key younger
  on conflict reject
  "who is the parent of whom".
parent(ann, bob).
grandparent(?x, ?z) :- parent(?x, ?y), parent{younger: ?z, elder: ?y}.
!- parent(?x, ?x) "nobody is their own parent".
:declare age/2 "in years"
age(ann, 70).
`;

describe('the text of a file', () => {
  it('is read as items in the order of the text, with their positions', () => {
    const { items, errors, comments, lines } = parseKnowledgeText(family);
    expect(errors).toEqual([]);
    expect(items.map(({ kind }) => kind)).toEqual([
      'declaration',
      'fact',
      'rule',
      'constraint',
      'declaration',
      'fact',
    ]);
    expect(items.map(({ span }) => lines.range(span).startLine)).toEqual([2, 6, 7, 8, 9, 10]);
    expect(items[0]).toMatchObject({
      declared: {
        name: 'parent',
        arity: 2,
        arguments: [
          { name: 'elder', type: 'entity' },
          { name: 'younger', type: 'entity' },
        ],
        key: ['younger'],
        onConflict: 'reject',
        description: 'who is the parent of whom',
      },
    });
    expect(comments.map(({ start, end }) => family.slice(start, end))).toEqual([
      '% Families.',
      '% the older one',
    ]);
    const [declaration] = items;
    if (declaration?.kind === 'declaration')
      expect(declaration.arguments.map(({ start, end }) => family.slice(start, end))).toEqual([
        'elder',
        'younger',
      ]);
  });

  it('puts arguments by name in order, if names are given', () => {
    const names = new ArgumentNames([{ name: 'p', arity: 2, arguments: [{ name: 'a' }, { name: 'b' }] }]);
    const { items } = parseKnowledgeText('p{b: 2, a: 1}.', { names });
    expect(items[0]).toMatchObject({ atom: { args: ['1', '2'] } });
    const { errors } = parseKnowledgeText('p{c: 2}.', { names });
    expect(errors[0]?.code).toBe('unknown_argument');
  });

  it('goes on behind an error in a declaration', () => {
    const { items, errors } = parseKnowledgeText(':declare p(a: ).\nq(a).\n:declare r\ns(b).');
    expect(errors.map(({ range }) => range.startLine)).toEqual([1, 3]);
    expect(items).toMatchObject([{ atom: { predicate: 'q' } }]);
  });

  it('takes key, on and check for facts where they are facts', () => {
    const { items, errors } = parseKnowledgeText(
      ':declare p(a)\nkey(a).\n:declare q(a) key a\ncheck :- key(b).\n:declare r(a) key a % b\n\n:declare s(a) "c"\nt.',
    );
    expect(errors).toEqual([]);
    expect(items.map(({ kind }) => kind)).toEqual([
      'declaration',
      'fact',
      'declaration',
      'rule',
      'declaration',
      'declaration',
      'fact',
    ]);
  });

  it('of hostile files is read in one pass', () => {
    const many = 200_000;
    const texts = [
      'test "a" {'.repeat(20_000),
      `test "a" {${'given '.repeat(many)}`,
      `test "a" { expect p(?x) = ${'('.repeat(many)}`,
      `test "a" {${'\n  '.repeat(many)}`,
      `test "a" {${'} '.repeat(many)}`,
      ':declare '.repeat(20_000),
      `:declare p(${'a: {'.repeat(many)}`,
      '"'.repeat(many),
    ];
    for (const text of texts)
      expect(parseKnowledgeText(text, { tests: true }).errors.length).toBeGreaterThan(0);
  });

  it('ends a declaration with its line, whatever its last clause is', () => {
    for (const clause of ['', ' key k', ' on conflict reject', ' check warn', ' "why"']) {
      const { items, errors } = parseKnowledgeText(`:declare p(k)${clause}\nq(a).`);
      expect([errors, items.map(({ kind }) => kind)], clause).toEqual([[], ['declaration', 'fact']]);
    }
  });
});

describe('formatting a file', () => {
  it('lays out statements and tests, and keeps comments, line ends and what cannot be parsed', () => {
    const text = `\ufeff:declare  p( a:entity )key a  "of \u2028 it".\r\n\r\n\r\np( a ).  % one\r\n!- p(?x),q( ?x )"no".\r
broken(\r
test   "t"{   % why\r
% first\r
given p( b ),not q(c). expect p(?x)={ a,b }.   % both\r
\r
\r
    expect q(?x) % inside\r
      = c.\r
expect not   violation "p q". }   \r
`;
    const once = formatKnowledgeText(text);
    expect(once.replaceAll('\r\n', '\n')).toBe(`:declare p(a: entity) key a "of \u2028 it".

p(a).  % one
!- p(?x), q(?x) "no".
broken(
test   "t"{   % why
% first
given p( b ),not q(c). expect p(?x)={ a,b }.   % both

    expect q(?x) % inside
      = c.
expect not   violation "p q". }
`);
    const whole = text.replace('broken(\r\n', '');
    expect(
      formatKnowledgeText(whole).replaceAll('\r\n', '\n'),
    ).toBe(`:declare p(a: entity) key a "of \u2028 it".

p(a).  % one
!- p(?x), q(?x) "no".
test "t" {   % why
  % first
  given p(b), not q(c).
  expect p(?x) = a, b.   % both

  expect q(?x) % inside
      = c.
  expect not violation "p q".
}
`);
    expect(
      formatKnowledgeText(whole)
        .split('\n')
        .every((line) => line === '' || line.endsWith('\r')),
    ).toBe(true);
  });

  it('breaks long statements of tests', () => {
    const answers = Array.from({ length: 12 }, (_, at) => `somebody_${at}`).join(', ');
    const text = `test "t" {\n  expect p(?x) = ${answers}.\n}\n`;
    const once = formatKnowledgeText(text);
    expect(once.split('\n')).toHaveLength(16);
    expect(formatKnowledgeText(once)).toBe(once);
  });
});
