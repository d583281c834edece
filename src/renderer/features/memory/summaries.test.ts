import { describe, expect, it } from 'vitest';
import { parseBody } from '../../../engine/logic/parse.ts';
import { neededByRules, originOf, summaryPredicates } from './summaries.ts';

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
      first: '2026-01-01',
      last: '2026-01-02',
    };
    expect(originOf({ consolidated, pinned: true })).toEqual({
      from: 'visited',
      position: 1,
      count: 2,
      first: '2026-01-01',
      last: '2026-01-02',
      episodes: [
        { value: '2026-01-01', createdAt: 5 },
        { value: '2026-01-02', createdAt: 6 },
      ],
    });
  });

  it('is none where its metadata say something else', () => {
    for (const consolidated of [
      true,
      'yes',
      [],
      {},
      { from: 1, count: 2, values: [] },
      { from: 'a', count: 2 },
    ])
      expect(originOf({ consolidated })).toBeNull();
    expect(originOf({})).toBeNull();
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
