import { describe, expect, it } from 'vitest';
import type { FactDetail } from '../../../engine/contract/facts.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import {
  assertionOf,
  generationOf,
  importanceOf,
  isPinnedFact,
  neededByRules,
  rememberedAtomOf,
  rememberedOf,
  skippedSentences,
  summarizedCountOf,
  summaryPredicates,
  summarySourcesOf,
} from './remembered.ts';

const detail: FactDetail = {
  id: 'f1-0',
  predicate: 'likes',
  args: ['ada', 'tea, black'],
  truthVal: false,
  scope: null,
  validFrom: 5,
  validUntil: 10,
  metadata: { source: 'talk', importance: 0.25, pinned: true, tags: ['a', { b: null }] },
  createdAt: 1,
  updatedAt: 2,
  importId: null,
  salience: 0.5,
  derived: false,
  provenance: null,
  dependents: [],
  salienceBreakdown: {
    uses: 1,
    lastUsedAt: 2,
    activation: 0.5,
    importance: 0.25,
    confidence: 1,
    salience: 0.5,
  },
  history: [
    { time: 1, generation: 3, requestId: 'a', change: 'asserted' },
    { time: 2, generation: 9, requestId: 'b', change: 'updated' },
  ],
};

const identity = {
  predicate: 'likes',
  args: ['ada', 'tea, black'],
  truthVal: false,
  unscoped: true,
  ifGeneration: 9,
};

describe('a change of a remembered fact', () => {
  it('boosts by asserting the unchanged fact, guarded by the generation that was read', () => {
    expect(assertionOf(detail, { kind: 'boost' })).toEqual({ body: identity });
  });

  it('keeps all other metadata when a fact is pinned, unpinned or weighed', () => {
    const { pinned: _pinned, ...unpinned } = detail.metadata;
    const { importance: _importance, ...unweighed } = detail.metadata;
    const written = (change: Parameters<typeof assertionOf>[1]) => assertionOf(detail, change).body.metadata;
    expect(written({ kind: 'pin', isPinned: true })).toEqual(detail.metadata);
    expect(written({ kind: 'pin', isPinned: false })).toEqual(unpinned);
    expect(written({ kind: 'importance', importance: 1 })).toEqual({ ...detail.metadata, importance: 1 });
    expect(written({ kind: 'importance', importance: null })).toEqual(unweighed);
  });

  it('removes the end of validity and keeps the rest', () => {
    expect(assertionOf(detail, { kind: 'keep' })).toEqual({ body: { ...identity, validUntil: 'never' } });
  });

  it('is made in the scope of the fact', () => {
    const { body } = assertionOf({ ...detail, scope: 'draft' }, { kind: 'boost' });
    expect(body).toMatchObject({ scope: 'draft' });
    expect(body).not.toHaveProperty('unscoped');
  });

  it('has no generation for a fact without history', () => {
    expect(generationOf({ history: [] })).toBe(0);
  });
});

describe('a remembered fact', () => {
  it('is pinned only by true itself', () => {
    expect(isPinnedFact(detail)).toBe(true);
    for (const pinned of [false, 'true', 1, null]) expect(isPinnedFact({ metadata: { pinned } })).toBe(false);
  });

  it('has the importance that counts, or none', () => {
    expect(importanceOf(detail)).toBe(0.25);
    for (const importance of [-0.1, 1.1, '0.5', null])
      expect(importanceOf({ metadata: { importance } })).toBeNull();
  });

  it('is rendered in the language', () => {
    expect(rememberedAtomOf(rememberedOf(detail))).toBe('-likes(ada, "tea, black")');
  });
});

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
