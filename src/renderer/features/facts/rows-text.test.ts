import { expect, test } from 'vitest';
import { rowsOfClipboard } from './pasted-rows.ts';
import { textOfRows } from './rows-text.ts';
import type { FactContent } from './staged-edits.ts';

function fact(predicate: string, args: string[], part: Partial<FactContent> = {}): FactContent {
  const content = { predicate, args, truthVal: true, scope: null };
  return { ...content, validFrom: null, validUntil: null, metadata: {}, ...part };
}

const everywhere = { predicate: undefined, arity: null, scope: null };
const roads = { predicate: 'road', arity: 2, scope: 'plan' };

const copied = [
  fact('road', ['a', 'b']),
  fact('road', ['a\tb', 'say "no"\nmore'], { truthVal: false }),
  fact('alone', []),
];

test('pastes copied rows as the same facts, in every format', () => {
  for (const format of ['tsv', 'json', 'ndjson', 'statements'] as const) {
    const pasted = rowsOfClipboard(textOfRows(copied, format), everywhere);
    expect(pasted.problems, format).toEqual([]);
    expect(pasted.facts, format).toEqual(copied);
  }
});

test('keeps scope, validity and metadata in JSON', () => {
  const whole = [
    fact('p', ['x'], { scope: 's', validFrom: 1_000, validUntil: 2_000, metadata: { source: 'map' } }),
  ];
  expect(rowsOfClipboard(textOfRows(whole, 'json'), everywhere).facts).toEqual(whole);
});

test('turns spreadsheet fields into arguments of the selected predicate, in the current scope', () => {
  const { format, facts } = rowsOfClipboard('a\tb\r\nc\td\r\n', roads);
  expect(format).toBe('TSV');
  expect(facts).toEqual([
    fact('road', ['a', 'b'], { scope: 'plan' }),
    fact('road', ['c', 'd'], { scope: 'plan' }),
  ]);
});

test('reports a bad line and reads the others', () => {
  const { facts, problems } = rowsOfClipboard('a,b\nc\nroad,e,f\n?x,y\n', roads);
  expect(facts.map(({ args }) => args)).toEqual([
    ['a', 'b'],
    ['e', 'f'],
  ]);
  expect(problems).toHaveLength(2);
  expect(problems[0]).toMatch(/^Line 2: 1 field, where road has 2/);
  expect(problems[1]).toMatch(/^Line 4: argument 1: /);
});

test('accepts statements without the last full stop, and reports a rule by its line', () => {
  expect(rowsOfClipboard('road(a, b)', roads).facts).toEqual([fact('road', ['a', 'b'], { scope: 'plan' })]);
  const { facts, problems } = rowsOfClipboard('road(a, b).\nq(?x) :- road(?x, ?y).\n', everywhere);
  expect(facts).toHaveLength(1);
  expect(problems[0]).toMatch(/^Line 2: this is a rule/);
});

test('reports truncated JSON and items that are not facts', () => {
  expect(rowsOfClipboard('[{"predicate": ', everywhere).problems[0]).toMatch(/^This is not JSON/);
  const { facts, problems } = rowsOfClipboard('[{"predicate":"p","args":["x"]},{"args":[]}]', everywhere);
  expect(facts).toEqual([fact('p', ['x'])]);
  expect(problems[0]).toMatch(/^Item 2: predicate/);
  expect(rowsOfClipboard('{"predicate":"p","args":[]}\n{"predicate":"q"\n', everywhere).problems[0]).toMatch(
    /^Line 2: /,
  );
});

test('rejects a text that is too long', () => {
  expect(rowsOfClipboard('a,b\n'.repeat(600_000), roads).problems[0]).toMatch(/import it as a file/);
});
