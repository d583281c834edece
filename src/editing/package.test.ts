import { describe, expect, test } from 'vitest';
import { runAtOnce } from '../engine/base/slices.ts';
import { fileCompletionsAt } from './file-completion.ts';
import { formatFile, formatRange } from './format-file.ts';
import { type KnowledgeFile, knowledgeFileSteps } from './knowledge-file.ts';
import { type EditedFile, PackageContext } from './package-diagnosis.ts';
import {
  argumentNamesOf,
  definitionsInPackage,
  describePackage,
  occurrencesInPackage,
  renameInPackage,
} from './package-symbols.ts';
import { applyTextEdits, symbolAt } from './read-text.ts';

/** The files of a package by name, read with the declarations of all. */
function packageOf(texts: Readonly<Record<string, string>>): EditedFile[] {
  const read = (known: readonly KnowledgeFile[]) =>
    Object.entries(texts).map(([name, text]) => ({
      name,
      file: runAtOnce(knowledgeFileSteps(text, name.endsWith('.test.kb'), argumentNamesOf(known))),
    }));
  return read(read([]).map(({ file }) => file));
}

function diagnosed(files: readonly EditedFile[]): string[] {
  const context = runAtOnce(PackageContext.of(files));
  return files.flatMap((each) =>
    runAtOnce(context.diagnose(each)).map(
      ({ severity, code, startLine, startColumn }) =>
        `${each.name}:${startLine}:${startColumn} ${severity} ${code}`,
    ),
  );
}

/** The symbol at the mark in a file of the package. */
function symbolIn(texts: Readonly<Record<string, string>>, name: string) {
  const offset = texts[name]?.indexOf('|') ?? -1;
  const plain = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text.replace('|', '')]));
  const files = packageOf(plain);
  const of = files.find((file) => file.name === name);
  const symbol = of === undefined ? null : symbolAt(of.file, offset);
  if (of === undefined || symbol === null) throw new Error(`no symbol in ${name}`);
  return { files, of, symbol };
}

describe('diagnostics of a package', () => {
  test('know what other files conclude and declare, but not what tests suppose', () => {
    const files = packageOf({
      'a.kb': 'p(?x) :- q(?x), d(?x), given(?x).',
      'b.kb': 'q(a).\n:declare d(x: entity)',
      'c.test.kb': 'test "t" {\n  given given(a), r(a).\n  expect p(?x), r(?x), unheard(?x) = a.\n}',
    });
    expect(diagnosed(files)).toEqual([
      'a.kb:1:24 warning unknown_predicate',
      'c.test.kb:3:24 warning unknown_predicate',
    ]);
  });

  test('allow arities that are declared, and warn of others', () => {
    const declared = ':declare p(a)\n:declare p(a, b)\n';
    expect(diagnosed(packageOf({ 'a.kb': `${declared}p(x).`, 'b.kb': 'p(x, y).' }))).toEqual([]);
    expect(diagnosed(packageOf({ 'a.kb': `${declared}p(x).`, 'b.kb': 'p(x, y, z).' }))).toEqual([
      'b.kb:1:1 warning arity_drift',
    ]);
  });

  test('name the file that has a rule or a declaration too', () => {
    const files = packageOf({
      'a.kb': ':declare p(x)\nr(?x) :- p(?x).',
      'b.kb': 'r(?y) :- p(?y).\n:declare p(y)\n:declare p(z)',
    });
    const [a, b] = files as [EditedFile, EditedFile];
    const context = runAtOnce(PackageContext.of(files));
    expect(runAtOnce(context.diagnose(a))).toEqual([]);
    expect(runAtOnce(context.diagnose(b)).map(({ message }) => message)).toEqual([
      'this rule stands in a.kb already: remove one of the two',
      'p/1 is declared in a.kb already: remove one of the two',
      'p/1 is declared in a.kb already: remove one of the two',
    ]);
  });

  test('are facts at odds with declarations, and names of violations that nothing has', () => {
    const files = packageOf({
      'a.kb':
        ':declare age(who, years: integer) key who on conflict reject\nage(ann, old).\nage(bob, 3).\nage(bob, 4).',
      'b.kb':
        ':declare size(what, cm: integer) key what check reject\nage(bob, 3).\nage(bob, 5).\n-age(bob, 6).\nsize(x, -).\nsize(x, 1).\n!- size(?x, 0) "flat".',
      'c.test.kb':
        'test "t" {\n  expect not violation "flat".\n  expect violation age.\n  expect violation agge.\n}',
    });
    expect(diagnosed(files)).toEqual([
      'a.kb:2:10 warning wrong_type',
      'a.kb:4:1 error key_conflict',
      'b.kb:2:1 warning duplicate',
      'b.kb:3:1 error key_conflict',
      'b.kb:5:9 error wrong_type',
      'b.kb:6:1 warning key_conflict',
      'c.test.kb:4:20 warning unknown_violation',
    ]);
  });

  test('are errors where a declaration is wrong, and where a file of tests has more than tests', () => {
    const files = packageOf({
      'a.kb': ':declare p(x: colour) key z',
      'b.test.kb': 'q(a).\ntest "t" { expect not p(?_). }',
    });
    expect(diagnosed(files)).toEqual(['a.kb:1:12 error syntax', 'b.test.kb:1:1 error syntax']);
  });
});

describe('names in a package', () => {
  const texts = {
    'a.kb': 'p(?x) :- q{to: ?x, from: ?y}, ?n = count { ?z : q(?z, ?y), not p(?z) }, ?n > 1.\n-p(b).',
    'b.kb': ':declare q(from, to) key from\nq(a, b).\nq(a).',
    'c.test.kb': 'test "t" {\n  given -p(c).\n  expect p(?x) = p(b).\n  expect violation q.\n}',
  };

  test('are defined by a declaration, or a head, or a fact', () => {
    const { files, of, symbol } = symbolIn({ ...texts, 'd.kb': 'r(?x) :- |q(?x, ?_), p(?x).' }, 'd.kb');
    expect(definitionsInPackage(symbol, of, files).map(({ file }) => file.name)).toEqual(['b.kb']);
    const one = symbolIn({ ...texts, 'd.kb': 'r(?x) :- p(?x), |q(?x).' }, 'd.kb');
    const [fact] = definitionsInPackage(one.symbol, one.of, one.files);
    expect(fact?.uses.map(({ span }) => span.start)).toEqual([39]);
    const rule = symbolIn({ ...texts, 'd.kb': 'r(?x) :- p|(?x).' }, 'd.kb');
    const [head] = definitionsInPackage(rule.symbol, rule.of, rule.files);
    expect(head?.uses.map(({ span }) => span.start)).toEqual([0]);
  });

  test('occur in facts of either sign, in braces, in tests and in the atoms of their answers', () => {
    const { files, of, symbol } = symbolIn({ ...texts, 'a.kb': texts['a.kb'].replace('p(', '|p(') }, 'a.kb');
    const found = occurrencesInPackage(symbol, of, files).map(
      ({ file, uses }) => `${file.name} ${uses.map(({ span }) => span.start).join(' ')}`,
    );
    expect(found).toEqual(['a.kb 0 63 81', 'c.test.kb 20 35 43']);
  });

  test('are renamed where a test names a violation, unless another arity has the name', () => {
    const after = (marked: Readonly<Record<string, string>>, name: string, to: string) => {
      const { files, of, symbol } = symbolIn(marked, name);
      const renamed = renameInPackage(symbol, to, of, files);
      if (renamed.kind === 'refused') return renamed.reason;
      return renamed.edits.map(({ file, edits }) => applyTextEdits(file.file.text, edits)).join('\n--\n');
    };
    const alone = { 'b.kb': ':declare q|(from, to) key from\nq(a, b).', 'c.test.kb': texts['c.test.kb'] };
    expect(after(alone, 'b.kb', 'edge')).toContain('expect violation edge.');
    expect(after({ ...texts, 'b.kb': texts['b.kb'].replace('q(', 'q|(') }, 'b.kb', 'edge')).not.toContain(
      'violation',
    );
    expect(after(alone, 'b.kb', 'p')).toContain(':declare p(from, to)');
    expect(after(alone, 'b.kb', 'mod')).toBe('mod is the name of a built-in');
    expect(after({ 'a.kb': 'p(a). |q(a).' }, 'a.kb', 'p')).toContain('p/1 is in the package already');
  });
});

describe('completion in a file', () => {
  const files = packageOf({
    'people.kb':
      ':declare born(person: entity, year: integer) key person\nborn(ann, 1940).\nknows(ann, bob).',
    'rules.kb': '!- born(?x, ?y), ?y < 0 "nobody is born before the year 0".',
  });
  const description = describePackage(files);
  const labels = (marked: string, isTest = false, isTriggered = false) => {
    const offset = marked.indexOf('|');
    const text = marked.replace('|', '');
    const { from, suggestions } = fileCompletionsAt(text, offset, description, isTest, isTriggered);
    return [text.slice(from, offset), ...suggestions.map(({ label }) => label)];
  };

  test('offers the words of declarations where they can stand', () => {
    const clauses = ['key', 'on conflict', 'check'];
    expect(labels(':decl|')).toContain(':declare');
    expect(labels('kn(a).\n% a\n# b\n:decl|')).toContain(':declare');
    expect(labels(':declare kn|')).toEqual(['kn', 'knows']);
    expect(labels(':declare p(a: in|')).toContain('integer');
    expect(labels(':declare p(a:in|')).toEqual(expect.arrayContaining(['in', 'integer']));
    expect(labels(':declare p(a: entity, b|')).toEqual(['b']);
    expect(labels(':declare p(a, b) k|')).toEqual(['k', ...clauses]);
    expect(labels(':declare p(a, b)\n  |')).toEqual(['', ...clauses]);
    expect(labels(':declare p(a, b) key a, |')).toEqual(['', 'a', 'b']);
    expect(labels(':declare p(a) on conflict s|')).toEqual(['s', 'warn', 'supersede', 'reject']);
    expect(labels(':declare p(a) check |')).toEqual(['', 'warn', 'reject']);
    expect(labels(':declare p(a) "a key |')).toEqual(['']);
    expect(labels(':declare p(a) key a\nkn|')).toEqual(expect.arrayContaining(['knows', ':declare']));
  });

  test('offers the words of tests in files of tests', () => {
    expect(labels('te|', true)).toEqual(['te', 'test']);
    expect(labels('% a note\nt|', true)).toEqual(['t', 'test']);
    expect(labels('te|')).not.toContain('test');
    expect(labels('test "a" {|', true)).toEqual(['', 'given', 'expect']);
    expect(labels('test "a" {|', true, true)).toEqual(['']);
    expect(labels('test "a" { expect |', true, true)).toContain('born');
    expect(labels('test "a" { g|', true)).toEqual(['g', 'given', 'expect']);
    expect(labels('test "a" {\n  given born(a, 1). % why\n  ex|', true)).toEqual(['ex', 'given', 'expect']);
    expect(labels('test "a" {\n  expect not |', true)).toEqual(expect.arrayContaining(['violation', 'born']));
    expect(labels('test "a" {\n  expect violation n|', true)).toEqual([
      'n',
      'born',
      '"nobody is born before the year 0"',
    ]);
    expect(labels('test "a" { expect born(?x, ?|', true)).toEqual(['?', '?x']);
    expect(labels('test "a" { expect p(?x) = {a}. }\n|', true)).toEqual(['', 'test']);
    expect(labels('test "a" { expect born(a, 1), kn|', true)).toEqual(
      expect.arrayContaining(['kn', 'knows']),
    );
    expect(labels('test "a" { expect born(a, 1), kn|', true)).not.toContain('violation');
  });

  test('reads the statement at the end of a large file', () => {
    const before = 'born(ann, 1940). % }\n'.repeat(5_000);
    expect(labels(`${before}p(?name) :- born(?|`)).toEqual(['?', '?name']);
    expect(labels(`${before}p(?x) :- kn|`)).toContain('knows');
  });
});

describe('formatting a file', () => {
  const text = 'p( a ).\r\n\r\n\r\n% b\r\nq(?x):-p(?x),\r\n  r(?x).\r\ns( b ).\r\n';

  test('changes the lines that differ, with the line ends of the file', () => {
    const edits = formatFile(text);
    expect(applyTextEdits(text, edits)).toBe('p(a).\r\n\r\n% b\r\nq(?x) :- p(?x), r(?x).\r\ns(b).\r\n');
    expect(formatFile(applyTextEdits(text, edits))).toEqual([]);
    expect(formatFile('p(a).\nq( b ).\nr(c).\n')).toEqual([{ start: 6, end: 14, text: 'q(b).\n' }]);
  });

  test('of a range formats the statements that it touches, and no other', () => {
    const [{ file }] = packageOf({ 'a.kb': text }) as [EditedFile];
    const at = text.indexOf('r(?x)');
    const edits = formatRange(text, file.parsed.items, { start: at, end: at });
    expect(applyTextEdits(text, edits)).toBe(
      text.replace('q(?x):-p(?x),\r\n  r(?x).', 'q(?x) :- p(?x), r(?x).'),
    );
  });
});
