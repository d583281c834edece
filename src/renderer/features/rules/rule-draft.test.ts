import { expect, test } from 'vitest';
import {
  draftConflictsOf,
  editedOf,
  readRuleDraft,
  type RuleFields,
  withMine,
  withTheirs,
  withWritten,
} from './rule-draft.ts';

const stored: RuleFields = { text: 'p(?x) :- q(?x).', name: 'first', description: '' };

test('follows the stored rule in untouched fields', () => {
  const draft = withWritten(stored, {}, { name: 'mine' });
  const changed = { ...stored, text: 'p(?x) :- r(?x).' };
  expect(editedOf(changed, draft)).toEqual({ ...changed, name: 'mine' });
  expect(draftConflictsOf(changed, draft)).toEqual([]);
});

test('treats a field equal to the stored one as untouched', () => {
  const draft = withWritten(stored, {}, { text: 'p(a).' });
  expect(withWritten(stored, draft, { text: stored.text })).toEqual({});
});

test('reports a field changed both here and elsewhere as a conflict until one is chosen', () => {
  const draft = withWritten(stored, {}, { text: 'p(?x) :- mine(?x).', description: 'why' });
  const further = withWritten(stored, draft, { text: 'p(?x) :- mine(?x), more(?x).' });
  const theirs = { ...stored, text: 'p(?x) :- theirs(?x).' };
  expect(draftConflictsOf(theirs, further)).toEqual(['text']);
  const kept = withMine(theirs, further);
  expect(draftConflictsOf(theirs, kept)).toEqual([]);
  expect(editedOf(theirs, kept).text).toBe('p(?x) :- mine(?x), more(?x).');
  expect(draftConflictsOf({ ...theirs, text: 'again' }, kept)).toEqual(['text']);
  expect(editedOf(theirs, withTheirs(theirs, further))).toEqual({ ...theirs, description: 'why' });
});

test('reports no conflict for the same change made elsewhere', () => {
  const draft = withWritten(stored, {}, { name: 'second' });
  expect(draftConflictsOf({ ...stored, name: 'second' }, draft)).toEqual([]);
});

test('reads a stored draft back and drops an invalid one', () => {
  const draft = withWritten(stored, {}, { text: 'p(a).' });
  expect(readRuleDraft(JSON.stringify(draft))).toEqual(draft);
  for (const kept of ['', '{', 'null', '"text"', '{"text":"p(a)."}', '{"other":{"base":"a","mine":"b"}}'])
    expect(readRuleDraft(kept)).toEqual({});
});
