import { describe, expect, test } from 'vitest';
import { type CellOutcome, editedCell } from './cell-editor.tsx';
import { cellKindOf, cellText } from './cell-kinds.ts';
import { readEdits } from './edit-store.ts';
import { factOfEdit, formOfFact, problemsOfFact, timeText } from './fact-form.ts';
import { type FactContent, stageAdded, stageChanged, stageRemoved } from './staged-edits.ts';

const fact: FactContent = {
  predicate: 'edge',
  args: ['a', 'b'],
  truthVal: true,
  scope: null,
  validFrom: null,
  validUntil: null,
  metadata: { source: 'x' },
};

function edited(column: string, text: string): CellOutcome {
  const cell = cellKindOf(column);
  if (cell === null) throw new Error(`${column} is not edited`);
  return editedCell(fact, cell, text);
}

describe('a cell', () => {
  test('is text, and another text changes the fact of its row', () => {
    expect(edited('argument-1', 'c, d')).toEqual({ kind: 'fact', fact: { ...fact, args: ['a', 'c, d'] } });
    expect(edited('scope', 'draft')).toMatchObject({ fact: { scope: 'draft' } });
    expect(edited('scope', ' ')).toMatchObject({ fact: { scope: null } });
    expect(edited('truth', 'false')).toMatchObject({ fact: { truthVal: false } });
    const negated = edited('fact', '-link(a, "b c").');
    expect(negated).toEqual({
      kind: 'fact',
      fact: { ...fact, predicate: 'link', args: ['a', 'b c'], truthVal: false },
    });
  });

  test('left unchanged makes the same fact', () => {
    for (const column of ['argument-0', 'scope', 'truth', 'fact']) {
      const cell = cellKindOf(column);
      expect(cell === null ? null : editedCell(fact, cell, cellText(fact, cell))).toEqual({
        kind: 'fact',
        fact,
      });
    }
  });

  test('reports what the service would refuse', () => {
    for (const [column, text] of [
      ['argument-0', '?x'],
      ['argument-7', 'x'],
      ['scope', '..'],
      ['fact', 'p(a) :- q(a)'],
      ['fact', 'p(a). q(b)'],
      ['fact', ''],
    ] as const)
      expect(edited(column, text).kind).toBe('problem');
  });

  test('computed by the service cannot be edited', () => {
    for (const column of ['salience', 'origin', 'updated', 'edit']) expect(cellKindOf(column)).toBeNull();
  });
});

describe('the form of an edited fact', () => {
  test('describes the fact it was made from', () => {
    const whole = {
      ...fact,
      scope: 's',
      validFrom: Date.UTC(2026, 0, 31),
      validUntil: Date.UTC(2026, 5, 1, 12, 30, 1, 5),
    };
    for (const each of [fact, whole, { ...fact, metadata: {} }])
      expect(factOfEdit(each.predicate, formOfFact(each))).toEqual({ fact: each, problems: {} });
  });

  test('writes times that it can read back', () => {
    expect(timeText(Date.UTC(2026, 0, 31))).toBe('2026-01-31');
    expect(timeText(Date.UTC(2026, 0, 31, 6))).toBe('2026-01-31T06:00:00Z');
    expect(timeText(null)).toBe('');
  });

  test('reports problems at their fields, and makes no fact', () => {
    const form = formOfFact(fact);
    const wrongWith = (part: Partial<typeof form>) =>
      Object.keys(factOfEdit('edge', { ...form, ...part }).problems);
    expect(wrongWith({ metadata: '{' })).toEqual(['metadata']);
    expect(wrongWith({ metadata: '[1]' })).toEqual(['metadata']);
    expect(wrongWith({ validFrom: 'soon' })).toEqual(['validFrom']);
    expect(wrongWith({ args: ['a', ''.padEnd(3, '?')] })).toEqual(['args.1']);
    expect(wrongWith({ validFrom: '2026-02-01', validUntil: '2026-01-01' })).toEqual(['validUntil']);
    expect(problemsOfFact(fact)).toEqual({});
  });
});

describe('edits stored across a reload', () => {
  const edits = stageRemoved(
    stageChanged(stageAdded([], fact), { id: 'f1', ...fact, scope: 's' }, { ...fact, scope: 't' }),
    { id: 'f2', ...fact, args: ['x'] },
  );

  test('are those that were staged', () => {
    expect(edits).toHaveLength(3);
    expect(readEdits(JSON.parse(JSON.stringify(edits)))).toEqual(edits);
  });

  test('are dropped if any of them is malformed', () => {
    expect(readEdits(null)).toBeNull();
    expect(readEdits([...edits, { kind: 'added', key: 'x' }])).toBeNull();
    expect(readEdits([edits[0], edits[0]])).toBeNull();
    expect(readEdits([{ ...edits[2], base: { ...fact, id: 7 } }])).toBeNull();
  });
});
