import { describe, expect, it } from 'vitest';
import { parseBody } from '../../../engine/language/parse.ts';
import {
  neededByRules,
  skippedSentences,
  summarizedCountOf,
  summaryPredicates,
  summarySourcesOf,
} from './remembered.ts';

describe('a summary', () => {
  it('tells what it was consolidated from', () => {
    const consolidated = {
      from: 'visited',
      position: 1,
      values: [
        { value: '2026-01-01', createdAt: 5, metadata: { mood: 'good' } },
        { value: '2026-01-02', createdAt: 6 },
      ],
      count: 2,
      first: 5,
      last: 6,
    };
    expect(summarySourcesOf({ consolidated, pinned: true })).toEqual(consolidated);
    expect(summarizedCountOf({ consolidated })).toBe(2);
  });

  it('is none where its metadata say something else', () => {
    for (const consolidated of [
      true,
      'yes',
      [],
      {},
      null,
      { from: 1, count: 2, values: [] },
      { values: { length: { toString: 1 } } },
    ])
      expect(summarySourcesOf({ consolidated })).toBeNull();
    expect(summarySourcesOf({})).toBeNull();
    for (const consolidated of [true, [], null, {}, { count: 'many' }])
      expect(summarizedCountOf({ consolidated })).toBeNull();
  });

  it('is looked for under the names that summaries have', () => {
    expect(summaryPredicates(['visited', 'visited_summary', 'visited_summary', 'summary'])).toEqual([
      'visited_summary',
    ]);
  });
});

describe('what rules need', () => {
  const rule = (text: string, enabled = true) => ({ enabled, body: parseBody(text) });

  it('is what stands in the body of an enabled rule', () => {
    const rules = [rule('visited(?x, ?y), not left(?x)'), rule('seen(?x)', false)];
    expect(neededByRules(['seen', 'left', 'visited', 'other'], rules)).toEqual(['left', 'visited']);
  });

  it('is also what an aggregate counts, however deep', () => {
    expect(neededByRules(['paid'], [rule('?n = count { ?y : paid(?x, ?y) }, shop(?x)')])).toEqual(['paid']);
  });
});

describe('patterns that are left alone', () => {
  const skipped = (atom: string, reason: 'atom_taken' | 'next_time') => ({
    atom,
    scope: null,
    support: 3,
    reason,
  });

  it('are told by their reasons, with the first of each', () => {
    expect(
      skippedSentences([
        skipped('a_summary(x, 3)', 'next_time'),
        skipped('b_summary(x, 3)', 'atom_taken'),
        skipped('c_summary(x, 3)', 'next_time'),
      ]),
    ).toEqual([
      'Left alone: b_summary(x, 3), since something else is stored under it.',
      'Left alone: a_summary(x, 3) and 1 more, since this consolidation is full, and the next one takes it.',
    ]);
    expect(skippedSentences([])).toEqual([]);
  });
});
