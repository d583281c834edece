import { describe, expect, test } from 'vitest';
import {
  netChangesOf,
  clashesOf,
  editCountsOf,
  countsText,
  type FactContent,
  identityOf,
  inverseOf,
  isSameContent,
  type Presents,
  restage,
  type SeenFact,
  stageAdded,
  stageChanged,
  stageRemoved,
  unstage,
  editWritesOf,
} from './staged-edits.ts';

const content = (args: string[], more: Partial<FactContent> = {}): FactContent => ({
  predicate: 'p',
  args,
  truthVal: true,
  scope: null,
  validFrom: null,
  validUntil: null,
  metadata: {},
  ...more,
});
const seen = (id: string, args: string[], more: Partial<FactContent> = {}): SeenFact => ({
  id,
  ...content(args, more),
});
/** All facts stored at generation 5. */
const stored = (...facts: SeenFact[]): Presents =>
  new Map(facts.map((fact) => [identityOf(fact), { fact, generation: 5 }]));

const a = seen('f1', ['a'], { metadata: { source: 'x' } });
const b = seen('f2', ['b'], { scope: 's' });

describe('staging', () => {
  test('drops a row that is changed back', () => {
    const edits = stageChanged([], a, content(['a'], { metadata: { source: 'y' } }));
    expect(editCountsOf(edits)).toEqual({ added: 0, changed: 1, removed: 0 });
    expect(stageChanged(edits, a, content(['a'], { metadata: { source: 'x' } }))).toEqual([]);
  });

  test('ignores the order of metadata keys', () => {
    const one = content(['a'], { metadata: { x: 1, y: { b: 1, a: [1, 2] } } });
    const other = content(['a'], { metadata: { y: { a: [1, 2], b: 1 }, x: 1 } });
    expect(isSameContent(one, other)).toBe(true);
    expect(isSameContent(one, content(['a'], { metadata: { x: 1, y: { a: [2, 1], b: 1 } } }))).toBe(false);
  });

  test('keeps the first base of a row, whatever was stored since', () => {
    const edits = stageChanged([], a, content(['a'], { validUntil: 9 }));
    const later = stageChanged(
      edits,
      { ...a, metadata: { source: 'theirs' } },
      content(['a'], { validUntil: 10 }),
    );
    expect(later).toMatchObject([{ kind: 'changed', base: a, fact: { validUntil: 10 } }]);
  });

  test('allows editing a removed row, and removing an edited one', () => {
    const removed = stageRemoved(stageChanged([], a, content(['z'])), a);
    expect(removed).toEqual([{ kind: 'removed', key: 'f1', base: a }]);
    expect(restage(removed, 'f1', content(['y']))).toMatchObject([{ kind: 'changed', base: a }]);
    expect(unstage(removed, 'f1')).toEqual([]);
  });

  test('changes a fact marked as removed that is added again', () => {
    const edits = stageAdded(stageRemoved([], a), content(['a']));
    expect(edits).toMatchObject([{ kind: 'changed', key: 'f1', base: a, fact: { metadata: {} } }]);
  });

  test('adds the same fact once, with unique keys', () => {
    const edits = stageAdded(stageAdded(stageAdded([], content(['x'])), content(['y'])), content(['x']));
    expect(edits.map(({ key }) => key)).toEqual(['+1', '+2']);
    expect(stageAdded(unstage(edits, '+1'), content(['z'])).map(({ key }) => key)).toEqual(['+2', '+3']);
  });

  test('returns the same object for an edit that changes nothing', () => {
    const edits = stageRemoved([], a);
    expect(stageRemoved(edits, a)).toBe(edits);
    expect(unstage(edits, 'unknown')).toBe(edits);
    expect(restage(edits, 'unknown', content(['q']))).toBe(edits);
  });

  test('reports rows that would be the same fact', () => {
    const edits = stageAdded(stageChanged([], a, content(['x'])), content(['x']));
    expect([...clashesOf(edits)].sort()).toEqual(['+1', 'f1']);
    expect(clashesOf(stageAdded(stageChanged([], a, content(['x'])), content(['a'])))).toEqual(new Set());
  });

  test('names the kinds of edits in a summary', () => {
    const edits = stageAdded(stageRemoved(stageRemoved([], a), b), content(['x']));
    expect(countsText(editCountsOf(edits))).toBe('1 added, 2 removed');
    expect(countsText(editCountsOf([]))).toBe('');
  });
});

describe('the writes', () => {
  const guard = () => 5;

  test('retract a removed fact in its own scope and truth, guarded', () => {
    expect(editWritesOf(netChangesOf(stageRemoved([], b), stored(b)), guard)).toEqual([
      {
        operation: 'retract',
        input: { body: { predicate: 'p', args: ['b'], truthVal: true, scope: 's', ifGeneration: 5 } },
      },
    ]);
    const [unscoped] = editWritesOf(netChangesOf(stageRemoved([], a), stored(a)), guard);
    expect(unscoped?.input).toMatchObject({ body: { unscoped: true } });
  });

  test('send only differing fields of a changed fact, and clear a removed bound', () => {
    const bounded = seen('f1', ['a'], { validFrom: 1, validUntil: 2, metadata: { k: 1 } });
    const edits = stageChanged([], bounded, content(['a'], { validFrom: 1, metadata: { k: 1 } }));
    expect(editWritesOf(netChangesOf(edits, stored(bounded)), guard)).toEqual([
      {
        operation: 'assertFact',
        input: {
          body: {
            predicate: 'p',
            args: ['a'],
            truthVal: true,
            scope: null,
            validUntil: 'never',
            ifGeneration: 5,
          },
        },
      },
    ]);
  });

  test('retract and assert a fact with another argument, with all other fields', () => {
    const edits = stageChanged([], a, { ...a, args: ['z'] });
    const writes = editWritesOf(netChangesOf(edits, stored(a)), guard);
    expect(writes.map(({ operation }) => operation)).toEqual(['retract', 'assertFact']);
    expect(writes[1]?.input).toMatchObject({
      body: { args: ['z'], metadata: { source: 'x' }, validFrom: 'always', validUntil: 'never' },
    });
  });

  test('change two facts that swap identities in place', () => {
    const one = seen('f1', ['a'], { metadata: { n: 1 } });
    const two = seen('f2', ['b'], { metadata: { n: 2 } });
    const edits = stageChanged(stageChanged([], one, { ...one, args: ['b'] }), two, { ...two, args: ['a'] });
    expect(clashesOf(edits).size).toBe(0);
    const writes = editWritesOf(netChangesOf(edits, stored(one, two)), guard);
    expect(writes.map(({ operation }) => operation)).toEqual(['assertFact', 'assertFact']);
    expect(writes.map(({ input }) => input)).toMatchObject([
      { body: { args: ['a'], metadata: { n: 2 } } },
      { body: { args: ['b'], metadata: { n: 1 } } },
    ]);
  });

  test('omit what is stored already', () => {
    const edits = stageAdded(stageRemoved([], a), content(['b'], { scope: 's' }));
    expect(netChangesOf(edits, stored(b))).toEqual([]);
  });

  test('have an inverse that retracts additions and restores removed facts in full', () => {
    const edits = stageAdded(stageRemoved([], a), content(['n']));
    const writes = editWritesOf(inverseOf(netChangesOf(edits, stored(a))), () => 8);
    expect(writes).toMatchObject([
      { operation: 'retract', input: { body: { args: ['n'], ifGeneration: 8 } } },
      {
        operation: 'assertFact',
        input: { body: { args: ['a'], metadata: { source: 'x' }, validFrom: 'always', ifGeneration: 8 } },
      },
    ]);
  });
});
