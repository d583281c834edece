import { expect, test } from 'vitest';
import '../../api/testing/browser.ts';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { readColumnChoices, shownColumns } from '../../ui/column-choice.ts';
import { choosableIds, differingColumns } from './column-choice.ts';
import type { FactContent } from './staged-edits.ts';
import type { FactGridRow } from './staged-rows.ts';

const fact: FactContent = {
  predicate: 'parent',
  args: ['ann', 'bob'],
  truthVal: true,
  scope: null,
  validFrom: null,
  validUntil: null,
  metadata: {},
};

const stored: StoredFact = {
  ...fact,
  id: 'f1-0',
  args: [...fact.args],
  metadata: {},
  createdAt: 0,
  updatedAt: 0,
  importId: null,
  salience: 1,
  derived: false,
  provenance: null,
};

function row(part: Partial<FactContent> = {}, changed: readonly (keyof FactContent)[] = []): FactGridRow {
  return { fact: { ...fact, ...part }, stored: null, edit: null, changed: new Set(changed) };
}

test('hides what is the norm on every row', () => {
  expect([...differingColumns([row(), row()])]).toEqual(['updated']);
});

test('shows a column once a row differs in it, or is staged to change in it', () => {
  expect(differingColumns([row(), row({ scope: 'draft' })])).toContain('scope');
  expect(differingColumns([row({ truthVal: false })])).toContain('truth');
  expect(differingColumns([row({ validUntil: 5 })])).toContain('validity');
  expect(differingColumns([row({}, ['scope'])])).toContain('scope');
  expect(differingColumns([row({}, ['truthVal'])])).toContain('truth');
});

test('shows the salience once it differs visibly', () => {
  const withSalience = (salience: number): FactGridRow => ({ ...row(), stored: { ...stored, salience } });
  expect(differingColumns([withSalience(1), withSalience(0.97)])).not.toContain('salience');
  expect(differingColumns([withSalience(1), withSalience(0.9)])).toContain('salience');
  expect(differingColumns([withSalience(0.2)])).not.toContain('salience');
});

test('shows what was chosen before what differs, and the column of the order', () => {
  const differing = new Set(['scope', 'updated'] as const);
  expect(shownColumns(choosableIds, {}, differing, null)).toEqual(['scope', 'updated']);
  expect(shownColumns(choosableIds, {}, differing, 'truth')).toEqual(['scope', 'truth', 'updated']);
  // Of a column that an earlier version had.
  expect(shownColumns(choosableIds, { size: true }, differing, null)).toEqual(['scope', 'updated']);
  expect(shownColumns(choosableIds, { scope: false, origin: true }, differing, null)).toEqual([
    'origin',
    'updated',
  ]);
});

test('reads stored choices, and none that are malformed', () => {
  expect(readColumnChoices({ parent: { scope: true } })).toEqual({ parent: { scope: true } });
  expect(readColumnChoices({ parent: null })).toBeNull();
  expect(readColumnChoices({ parent: { scope: 'yes' } })).toBeNull();
  expect(readColumnChoices(7)).toBeNull();
});
