import { describe, expect, test } from 'vitest';
import type { PackageDetail, PackageOutcome } from '../../../engine/contract/packages.ts';
import { applyCommand, countsInWords, packagedRows, removedOf } from './package-contents.ts';

const detail: PackageDetail = {
  name: 'family',
  scope: null,
  appliedAt: 0,
  appliedBy: null,
  generation: 3,
  counts: { facts: 2, rules: 2, declarations: 1, constraints: 1 },
  facts: [
    {
      atom: 'p(a)',
      predicate: 'p',
      args: ['a'],
      truthVal: true,
      scope: null,
      id: 'f1',
      state: 'held',
    },
  ],
  nextOffset: 1,
  rules: [
    { id: 'r1', text: 'q(?x) :- p(?x)', scope: null, state: 'changed' },
    { id: 'r2', text: null, scope: null, state: 'gone' },
  ],
  declarations: [{ name: 'p', arity: 1, text: ':declare p(x: entity)', state: 'held' }],
  constraints: [{ id: 'c1', text: '!- p(?x), q(?x)', description: 'not both', scope: null, state: 'held' }],
};
const next: PackageDetail = {
  ...detail,
  facts: [
    { atom: '-p(b)', predicate: 'p', args: ['b'], truthVal: false, scope: null, id: null, state: 'gone' },
  ],
  nextOffset: null,
};

test('the command that applies a package names what is not the default', () => {
  const origin = 'http://127.0.0.1:9300';
  const command = `corollary apply FOLDER --url ${origin}`;
  expect(applyCommand(origin, { database: 'default', tenant: 'default' })).toBe(command);
  expect(applyCommand(origin, { database: 'towns', tenant: "it's" })).toBe(
    `${command} --database towns --tenant 'it'\\''s'`,
  );
});

describe('the contents of a package', () => {
  test('list each thing once over all pages, with its place unless it is gone', () => {
    expect(packagedRows([])).toEqual([]);
    expect(
      packagedRows([detail, next]).map(({ key, text, state, place }) => [key, text, state, place]),
    ).toEqual([
      ['declaration p/1', ':declare p(x: entity)', 'held', { to: '/schema', search: { predicate: 'p/1' } }],
      ['rule r1', 'q(?x) :- p(?x)', 'changed', { to: '/rules', search: { rule: 'r1' } }],
      ['rule r2', 'r2', 'gone', null],
      [
        'constraint c1',
        '!- p(?x), q(?x) "not both"',
        'held',
        { to: '/schema', search: { part: 'constraints', constraint: 'c1' } },
      ],
      ['fact p(a)', 'p(a)', 'held', { to: '/facts', search: { predicate: 'p', q: 'p(a)', fact: 'f1' } }],
      ['fact -p(b)', '-p(b)', 'gone', null],
    ]);
  });

  test('are counted in words, without what there is none of', () => {
    expect(countsInWords(detail.counts)).toBe('2 facts, 2 rules, 1 declaration, 1 constraint');
    expect(countsInWords({ facts: 0, rules: 1, declarations: 0, constraints: 0 })).toBe('1 rule');
    expect(countsInWords({ facts: 0, rules: 0, declarations: 0, constraints: 0 })).toBe('nothing');
  });

  test('that a removal takes away are counted, and listed with what others need first', () => {
    const changesOf = (removed: string[]) => ({
      added: 0,
      removed: removed.length,
      changed: 0,
      kept: 0,
      listed: { added: [], removed, changed: [] },
    });
    const outcome: PackageOutcome = {
      name: 'family',
      scope: null,
      status: 'deleted',
      facts: changesOf(['p(a)', '-p(b)']),
      rules: changesOf(['q(?x) :- p(?x)']),
      declarations: changesOf([]),
      constraints: changesOf([]),
      kept: [],
      keptCount: 0,
      gained: 0,
      lost: 1,
      conclusions: { gained: [], lost: ['q(a)'] },
      generation: 4,
      dryRun: true,
    };
    expect(removedOf(outcome)).toEqual({
      counts: { facts: 2, rules: 1, declarations: 0, constraints: 0 },
      listed: ['q(?x) :- p(?x)', 'p(a)', '-p(b)'],
    });
  });
});
