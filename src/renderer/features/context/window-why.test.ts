import { describe, expect, test } from 'vitest';
import {
  type ContextWindow,
  optimizeInputSchema,
  windowDiffInputSchema,
} from '../../../engine/contract/context.ts';
import { type SearchHit, searchInputSchema } from '../../../engine/contract/search.ts';
import { contextSearchOf } from './context-search.ts';
import { diffRequest, inspecting, readForm } from './form.ts';
import { explaining, reasonOfLine, whyByAtom } from './window-why.ts';

const all = { kind: 'all' } as const;

describe('a form with a question', () => {
  const fields = { query: " who is ann's aunt? ", proofs: 'premises', fill: 'true', tokens: '300' } as const;

  test('is read into the request of a window and of a diff', () => {
    const { request } = readForm(fields, all);
    expect(request).toEqual({
      maxFacts: 100,
      maxTokens: 300,
      query: "who is ann's aunt?",
      proofs: 'premises',
      fill: true,
    });
    optimizeInputSchema.parse(inspecting(request ?? {}));
    const diff = diffRequest('s', request);
    expect(diff).toEqual({ sessionId: 's', maxFacts: 100, maxTokens: 300, query: "who is ann's aunt?" });
    windowDiffInputSchema.parse(diff);
  });

  test('fills only with a question, and reports a question that is too long', () => {
    expect(readForm({ query: '  ', fill: 'true' }, all).request).toEqual({ maxFacts: 100 });
    expect(readForm({ query: 'a'.repeat(2_000_000) }, all).problems).toHaveProperty('query');
    expect(readForm({ tokens: '0' }, all).problems).toHaveProperty('maxTokens');
  });

  test('survives an address', () => {
    expect(contextSearchOf({ ...fields, part: 'text' })).toEqual({ ...fields, part: 'text' });
    expect(contextSearchOf({ proofs: 'auto', fill: 'no', tokens: 'many' })).toEqual({});
  });

  test('is explained by a search over the same knowledge', () => {
    const { request } = readForm(
      { ...fields, predicates: 'p,q', facts: '900' },
      { kind: 'named', name: 'S' },
    );
    const search = explaining(request ?? {});
    expect(search).toMatchObject({
      text: "who is ann's aunt?",
      limit: 900,
      predicates: ['p', 'q'],
      scope: 'S',
    });
    searchInputSchema.parse(search);
    expect(explaining({ maxFacts: 5 })).toBeNull();
    expect(explaining({ query: 'x', maxFacts: 5 })?.limit).toBeGreaterThan(5);
  });
});

describe('the reason of a line', () => {
  const hit = (atom: string, detail: string): SearchHit => ({
    kind: 'fact',
    atom,
    id: null,
    score: 1,
    why: [{ signal: 'mention', rank: 1, detail }],
    scope: null,
    salience: 1,
  });
  const goal = (atoms: string[]): ContextWindow['goals'][number] => ({
    goal: 'p(ann, ?x2)',
    status: 'proved',
    answers: { found: 1, whole: 1, premises: 0, omitted: 0 },
    atoms,
    needs: null,
    reason: null,
  });
  const why = whyByAtom([hit('q(ann)', 'ann'), hit('q(ann)', 'the second scope')]);
  const chosen = { window: { goals: [goal(['p(ann, bo)'])] }, request: { query: 'ann' }, why };

  test('is the goal that it answers, listed among its first answers or not', () => {
    for (const atom of ['p(ann, bo)', 'p(ann, "c d")'])
      expect(reasonOfLine({ atom, category: 'goal_relevant' }, chosen)).toBe('answers p(ann, ?x2)');
  });

  test.each([
    ['p(?x1, ?x1)', 'p(a, a)', true],
    ['p(?x1, ?x1)', 'p(a, b)', false],
    ['p(?_, ?_)', 'p(a, b)', true],
    ['-p(?x1, b)', '-p(a, b)', true],
    ['p(?x1, b)', '-p(a, b)', false],
    ['p(?x1)', 'p(a, b)', false],
    ['q(?x1, b)', 'p(a, b)', false],
  ])('compares variables, signs and arity: %s and %s', (pattern, atom, isAnswer) => {
    const window = { goals: [{ ...goal([]), goal: pattern }] };
    const reason = reasonOfLine({ atom, category: 'goal_relevant' }, { ...chosen, window });
    expect(reason).toBe(isAnswer ? `answers ${pattern}` : 'is a premise');
  });

  test('is a proof that needs it', () => {
    expect(reasonOfLine({ atom: 'r(bo)', category: 'goal_relevant' }, chosen)).toBe('is a premise');
  });

  test('is what the search says of it, the best of several scopes', () => {
    expect(reasonOfLine({ atom: 'q(ann)', category: 'related' }, chosen)).toBe('names ann');
    expect(reasonOfLine({ atom: 'q(ann)', category: null }, chosen)).toBe('names ann');
  });

  test('is its nearness, or its salience where that may fill', () => {
    const line = { atom: 's(1)', category: 'asserted' } as const;
    expect(reasonOfLine(line, chosen)).toBe('is near the names');
    expect(reasonOfLine(line, { ...chosen, request: { query: 'ann', fill: true } })).toBe(
      'is near the names, or salient',
    );
    expect(reasonOfLine(line, { ...chosen, request: {} })).toBe('');
    expect(reasonOfLine({ ...line, category: null }, chosen)).toBe('');
  });
});
