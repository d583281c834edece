import { expect, test } from 'vitest';
import type { AtomLiteral, Literal } from '../contract/language.ts';
import { renderAtom, renderBody, renderConstant, renderLiteral, renderRule } from './print.ts';

function atom(predicate: string, ...args: string[]): AtomLiteral {
  return { predicate, args, negated: false, naf: false };
}

test('renders an atom as predicate(arg1, arg2), without arguments as predicate()', () => {
  expect(renderAtom(atom('parent', 'alice', 'bob'))).toBe('parent(alice, bob)');
  expect(renderAtom(atom('raining'))).toBe('raining()');
});

test('renders an explicitly negated atom with a leading minus', () => {
  expect(renderAtom({ ...atom('flies', 'tweety'), negated: true })).toBe('-flies(tweety)');
});

test('quotes an argument only if it is empty, has white space at an end, or contains , ( ) " \\ or a control character', () => {
  for (const bare of ['alice', 'New York', '50%', '#1', 'a.b', "it's", '{x}', 'a:-b', '?x', 'ß', '𝒳'])
    expect(renderConstant(bare)).toBe(bare);
  for (const quoted of ['', ' a', 'a ', 'a\t', '\u00a0a', 'a,b', 'a(b', 'a)b', 'a"b', 'a\\b', 'a\nb'])
    expect(renderConstant(quoted)).toBe(JSON.stringify(quoted));
  for (const unit of [0, 0x1f, 0x7f, 0x9f, 0x2028, 0x2029]) {
    const text = `a${String.fromCharCode(unit)}b`;
    expect(renderConstant(text)).toBe(JSON.stringify(text));
  }
});

test('renders a rule as head :- a, b', () => {
  const rule = {
    head: atom('grandparent', '?x', '?z'),
    body: [atom('parent', '?x', '?y'), atom('parent', '?y', '?z')],
  };
  expect(renderRule(rule)).toBe('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
});

test('renders body literals as the grammar writes them', () => {
  const body: Literal[] = [
    { ...atom('p', '?x'), negated: true },
    { ...atom('p', '?x', '?_'), naf: true },
    { ...atom('p', '?x'), naf: true, negated: true },
    atom('<', '?a', '?b'),
    atom('+', '?a', '?b', '?c'),
    atom('mod', '?a', '2', '?c'),
    { aggregate: 'count', result: '?n', over: ['?y'], body: [atom('p', '?x', '?y'), atom('q', '?y')] },
    { aggregate: 'sum', result: '?s', over: ['?v', '?id'], body: [atom('item', '?id', '?v')] },
  ];
  expect(body.map(renderLiteral)).toEqual([
    '-p(?x)',
    'not p(?x, ?_)',
    'not -p(?x)',
    '?a < ?b',
    '?c = ?a + ?b',
    '?c = ?a mod 2',
    '?n = count { ?y : p(?x, ?y), q(?y) }',
    '?s = sum { ?v, ?id : item(?id, ?v) }',
  ]);
  expect(renderBody(body.slice(0, 2))).toBe('-p(?x), not p(?x, ?_)');
});

test('quotes a constant in a built-in unless it is a number or one word of letters, digits and _', () => {
  for (const bare of ['alice', '3', '-3', '1.5e+3', '007', 'a_b', 'übung', 'not', 'mod'])
    expect(renderLiteral(atom('=', '?x', bare))).toBe(`?x = ${bare}`);
  for (const quoted of ['New York', 'a-b', '', '+5', '.5', 'a.b', '50%', '-x'])
    expect(renderLiteral(atom('=', '?x', quoted))).toBe(`?x = ${JSON.stringify(quoted)}`);
});
