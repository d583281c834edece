import { expect, test } from 'vitest';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { editedCell } from './cell-editor.tsx';
import { cellKindOf } from './cell-kinds.ts';
import {
  contentOf,
  type FactContent,
  seenFactOf,
  stageAdded,
  stageChanged,
  type StagedEdits,
} from './staged-edits.ts';
import { addedRows, storedRow } from './staged-rows.ts';

const stored: StoredFact = {
  id: 'f1-0',
  predicate: 'p',
  args: ['a'],
  truthVal: true,
  scope: null,
  validFrom: null,
  validUntil: null,
  metadata: {},
  createdAt: 0,
  updatedAt: 0,
  importId: null,
  salience: 0.5,
  derived: false,
  provenance: null,
};
const byKey = (edits: StagedEdits) => new Map(edits.map((edit) => [edit.key, edit]));

test('makes a listed row editable', () => {
  const { fact } = storedRow(stored, new Map());
  const cell = cellKindOf('argument-0');
  expect(cell === null ? null : editedCell(fact, cell, 'b')).toEqual({
    kind: 'fact',
    fact: { ...contentOf(stored), args: ['b'] },
  });
});

test('shows a changed row with its new content and the differing fields, and a conclusion unchanged', () => {
  const seen = seenFactOf(stored);
  if (seen === null) throw new Error('it is stored');
  const edits = stageChanged([], seen, { ...seen, args: ['b'], validUntil: 9 });
  const row = storedRow(stored, byKey(edits));
  expect(row.fact).toMatchObject({ args: ['b'], validUntil: 9 });
  expect([...row.changed].sort()).toEqual(['args', 'validUntil']);
  const conclusion = { ...stored, id: null, derived: true };
  expect(seenFactOf(conclusion)).toBeNull();
  expect(storedRow(conclusion, byKey(edits)).edit).toBeNull();
});

test('puts staged additions first, the newest on top, if they belong to the selection', () => {
  const fact = (predicate: string, scope: string | null): FactContent => ({
    ...contentOf(stored),
    predicate,
    scope,
  });
  const edits = [fact('p', null), fact('q', null), fact('p', 's')].reduce<StagedEdits>(stageAdded, []);
  const shown = (predicate: string | undefined, scope: Parameters<typeof addedRows>[2]) =>
    addedRows(edits, predicate, scope).map(({ edit }) => edit?.key);
  expect(shown(undefined, { kind: 'all' })).toEqual(['+3', '+2', '+1']);
  expect(shown('p', { kind: 'all' })).toEqual(['+3', '+1']);
  expect(shown('p', { kind: 'unscoped' })).toEqual(['+1']);
  expect(shown(undefined, { kind: 'named', name: 's' })).toEqual(['+3']);
});
