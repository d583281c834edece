import { describe, expect, test } from 'vitest';
import { editConflictsOf, keepMine } from './staged-conflicts.ts';
import {
  netChangesOf,
  type FactContent,
  identityOf,
  type Presents,
  type SeenFact,
  stageAdded,
  stageChanged,
  type StagedEdits,
  stageRemoved,
} from './staged-edits.ts';

const fact = (arg: string, metadata: FactContent['metadata'] = {}, validUntil: number | null = null) => ({
  predicate: 'p',
  args: [arg],
  truthVal: true,
  scope: null,
  validFrom: null,
  validUntil,
  metadata,
});
const seen = (id: string, content: FactContent): SeenFact => ({ id, ...content });

/** Of the facts that the edits concern, only the given ones are stored. */
function presents(...facts: SeenFact[]): Presents {
  return new Map(facts.map((each) => [identityOf(each), { fact: each, generation: 3 }]));
}

function absent(content: FactContent): Presents {
  return new Map([[identityOf(content), { fact: null, generation: 3 }]]);
}

const base = seen('f1', fact('a', { n: 1 }));
const mine = fact('a', { n: 2 });
const theirs = seen('f1', fact('a', { n: 1 }, 99));
const changed = stageChanged([], base, mine);
const removed = stageRemoved([], base);

/** The only conflict. */
function onlyOf(edits: StagedEdits, stored: Presents) {
  const [conflict, ...more] = editConflictsOf(edits, stored);
  if (conflict === undefined || more.length > 0) throw new Error('expected one conflict');
  return conflict;
}

describe('a conflict', () => {
  test('is absent if the fact is as it was when edited', () => {
    expect(editConflictsOf(changed, presents(base))).toEqual([]);
    expect(editConflictsOf(removed, presents(seen('another id', base)))).toEqual([]);
  });

  test('is a fact that someone else changed or removed', () => {
    expect(onlyOf(changed, presents(theirs))).toMatchObject({ kind: 'changed', theirs, mine });
    expect(onlyOf(removed, presents(theirs))).toMatchObject({ kind: 'changed', theirs, mine: null });
    expect(onlyOf(changed, absent(base))).toMatchObject({ kind: 'gone', theirs: null });
  });

  test('is absent if others made the same change', () => {
    expect(editConflictsOf(changed, presents(seen('f1', mine)))).toEqual([]);
    expect(editConflictsOf(removed, absent(base))).toEqual([]);
    const moved = stageChanged([], base, fact('z'));
    const there = new Map([...absent(base), ...presents(seen('f9', fact('z')))]);
    expect(editConflictsOf(moved, there)).toEqual([]);
    expect(netChangesOf(moved, there)).toEqual([]);
  });

  test('is a stored fact where one is added, unless it is the same', () => {
    const added = stageAdded([], fact('x', { n: 2 }));
    const there = seen('f7', fact('x', { n: 7 }));
    expect(onlyOf(added, presents(there))).toMatchObject({ kind: 'exists', theirs: there, expected: null });
    expect(editConflictsOf(added, presents(seen('f7', fact('x', { n: 2 }))))).toEqual([]);
  });

  test('does not arise from a fact that another edit removes', () => {
    const other = seen('f2', fact('b'));
    const edits = stageRemoved(stageChanged([], base, fact('b', { n: 1 })), other);
    expect(editConflictsOf(edits, presents(base, other))).toEqual([]);
  });
});

describe('keeping mine', () => {
  test('preserves other fields that others changed', () => {
    const kept = keepMine(changed, onlyOf(changed, presents(theirs)));
    expect(kept).toMatchObject([
      { kind: 'changed', base: theirs, fact: { metadata: { n: 2 }, validUntil: 99 } },
    ]);
    expect(editConflictsOf(kept, presents(theirs))).toEqual([]);
  });

  test('adds a removed fact again', () => {
    const kept = keepMine(changed, onlyOf(changed, absent(base)));
    expect(kept).toEqual([{ kind: 'added', key: '+1', fact: mine, over: null }]);
  });

  test('removes the fact they changed, knowingly', () => {
    const kept = keepMine(removed, onlyOf(removed, presents(theirs)));
    expect(kept).toEqual([{ kind: 'removed', key: 'f1', base: theirs }]);
  });

  test('overwrites the stored fact, knowingly, and only that', () => {
    const added = stageAdded([], fact('x', { n: 2 }));
    const there = seen('f7', fact('x', { n: 7 }));
    const kept = keepMine(added, onlyOf(added, presents(there)));
    expect(editConflictsOf(kept, presents(there))).toEqual([]);
    expect(netChangesOf(kept, presents(there))).toHaveLength(1);
    const again = presents(seen('f7', fact('x', { n: 8 })));
    expect(onlyOf(kept, again)).toMatchObject({ kind: 'exists', expected: { metadata: { n: 7 } } });
  });

  test('follows a fact that was added again under another id', () => {
    const back = seen('f12', fact('a', { n: 5 }));
    const kept = keepMine(changed, onlyOf(changed, presents(back)));
    expect(kept).toMatchObject([{ key: 'f12', base: back, fact: { metadata: { n: 2 } } }]);
  });
});
