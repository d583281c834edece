import { describe, expect, it } from 'vitest';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { parseAtom, parseRule } from '../../../engine/language/parse.ts';
import {
  factHitsOf,
  factIdentityOf,
  hitTextsOf,
  replaceChangesOf,
  type Replacement,
  ruleHitsOf,
  searchTextOf,
  withMerged,
} from './replacing.ts';

function ruleOf(id: string, text: string, beside: Partial<StoredRule> = {}): StoredRule {
  const plain = { scope: null, name: null, description: null, enabled: true, createdAt: 0, fired: 0 };
  return { id, text, ...parseRule(text), etag: `"${id}"`, ...plain, ...beside };
}

function factOf(text: string, beside: Partial<StoredFact> = {}): StoredFact {
  const { predicate, args, negated } = parseAtom(text);
  const fact = {
    id: text,
    predicate,
    args,
    truthVal: !negated,
    scope: null,
    validFrom: null,
    validUntil: null,
  };
  return { ...fact, metadata: {}, ...beside } as StoredFact;
}

const plain = { matchesCase: false, isWhole: false };
const of = (find: string, put: string, more: Partial<Replacement> = {}): Replacement => ({
  find,
  put,
  ...plain,
  ...more,
});

describe('rules', () => {
  const rules = [
    ruleOf(
      'r1',
      'near(?x, ?y) :- street(?x, ?y), not closed(?x, "Main, 1"), ?n = count { ?z : street(?y, ?z) }, ?n > 2',
    ),
    ruleOf('r2', 'far(?x) :- place(?x)', { name: 'Street', description: 'No street, no Streetlight' }),
  ];
  const after = (replacement: Replacement) =>
    ruleHitsOf(rules, replacement).map((hit) => hitTextsOf(hit).after);

  it('are replaced in predicates, constants, variables, braces, names and descriptions', () => {
    expect(after(of('street', 'road'))).toEqual([
      'near(?x, ?y) :- road(?x, ?y), not closed(?x, "Main, 1"), ?n = count { ?z : road(?y, ?z) }, ?n > 2',
      '% road: "No road, no roadlight"',
    ]);
    expect(after(of('Main, 1', 'High, "2"'))[0]).toContain(String.raw`closed(?x, "High, \"2\"")`);
    expect(after(of('?n', '?count'))[0]).toContain('?count > 2');
  });

  it('respect case and whole names', () => {
    expect(after(of('street', 'road', { matchesCase: true }))[1]).toBe('% Street: "No road, no Streetlight"');
    expect(after(of('street', 'road', { isWhole: true }))[1]).toBe('% road: "No road, no Streetlight"');
    expect(after(of('stree', 'road', { isWhole: true }))).toEqual([]);
    expect(after(of('', 'road'))).toEqual([]);
    expect(after(of('$&(', 'x'))).toEqual([]);
    for (const find of ['a-b/c', '\\', '[', '^?', '{1}|.', '-']) expect(after(of(find, 'x'))).toEqual([]);
    expect(after(of('place', '$&'))[0]).toBe('far(?x) :- $&(?x)');
  });

  it.each([
    ['?y', 'y', 'y is no variable'],
    ['near', 'count 1 (', null],
    ['near', '<=', 'built-in'],
    ['Main, 1', '?x', 'would be a variable'],
    ['?x', '?', 'is no variable'],
  ])('%s cannot become %s', (find, put, problem) => {
    const [hit] = ruleHitsOf(rules, of(find, put, { isWhole: true }));
    if (problem === null) expect(hit?.problem).not.toBeNull();
    else expect(hit?.problem).toContain(problem);
  });

  it('that would become another rule, or unsafe, say so', () => {
    const twins = [
      ruleOf('r1', 'p(?x) :- q(?x)'),
      ruleOf('r2', 'p(?x) :- r(?x)'),
      ruleOf('r3', 'p(?y) :- s(?x, ?y)'),
    ];
    expect(ruleHitsOf(twins, of('r', 'q', { isWhole: true }))[0]?.problem).toBe('There is this rule already');
    expect(
      ruleHitsOf([ruleOf('r1', 'p(?x) :- not q(?_), r(?x, ?y), ?y < 3')], of('?x', '?_'))[0]?.problem,
    ).not.toBeNull();
    // Both become one: the first may.
    const both = [ruleOf('r1', 'p(?x) :- ab(?x)'), ruleOf('r2', 'p(?x) :- AB(?x)')];
    expect(ruleHitsOf(both, of('ab', 'c')).map(({ problem }) => problem)).toEqual([
      null,
      'There is this rule already',
    ]);
  });
});

describe('facts', () => {
  const facts = [
    factOf('lives(ada, "Main, 1")', { metadata: { source: 'book' } }),
    factOf('lives(ada, Paris)'),
  ];

  it('keep their metadata, and are asserted before what they were is gone', () => {
    const hits = factHitsOf(facts, of('Main, 1', 'High, 2'));
    expect(hits.map(hitTextsOf)).toEqual([
      { before: 'lives(ada, "Main, 1")', after: 'lives(ada, "High, 2")' },
    ]);
    expect(replaceChangesOf(hits).facts).toMatchObject([
      { before: { args: ['ada', 'Main, 1'] }, after: null },
      { before: null, after: { args: ['ada', 'High, 2'], metadata: { source: 'book' } } },
    ]);
  });

  it('that become a stored fact are only retracted; one that is replaced itself is no such fact', () => {
    const chain = [factOf('p(a)'), factOf('p(aa)')];
    const hits = withMerged(factHitsOf(chain, of('a', 'aa')), new Set([factIdentityOf(factOf('p(aaaa)'))]));
    expect(hits.map(({ isMerged }) => isMerged)).toEqual([false, false]);
    const merged = withMerged(factHitsOf([factOf('p(a)')], of('a', 'b')), new Set());
    expect(replaceChangesOf(merged).facts).toMatchObject([{ before: { args: ['a'] }, after: null }]);
  });

  it('that become one another are asserted once', () => {
    const hits = factHitsOf([factOf('p(Ab)'), factOf('p(aB)')], of('ab', 'c'));
    const { facts: changes } = replaceChangesOf(hits);
    expect(changes.filter(({ after }) => after !== null)).toHaveLength(1);
    expect(changes.filter(({ before }) => before !== null)).toHaveLength(2);
  });

  it('are searched for by what is rendered as it is written', () => {
    expect(searchTextOf('say "hello", world')).toBe(', world');
    expect(searchTextOf('plain')).toBe('plain');
    expect(searchTextOf('"')).toBe('');
  });
});
