import { describe, expect, test } from 'vitest';
import { type AskedCall, momentOfCall, spaceOfCall, replayOf } from './ask-replay.ts';

function asked(given: Record<string, unknown>, part: Partial<AskedCall> = {}): AskedCall {
  return {
    tool: 'ask',
    arguments: given,
    argumentsCut: false,
    database: 'default',
    tenant: 'default',
    ...part,
  };
}

function questionOf(given: Record<string, unknown>): string | null {
  const replay = replayOf(asked(given));
  return replay?.kind === 'question' ? replay.question : null;
}

describe('replay into Ask', () => {
  test('turns a pattern, a body and a text into a question', () => {
    expect(questionOf({ predicate: 'parent', args: ['ada', '?who'] })).toBe('parent(ada, ?who)');
    expect(questionOf({ predicate: 'age', args: ['a, b', 3], negated: true })).toBe('-age("a, b", 3)');
    expect(questionOf({ text: 'p(?x), not q(?x)' })).toBe('p(?x), not q(?x)');
    const body = [
      { predicate: 'p', args: ['?x'] },
      { predicate: 'q', args: ['?x'], naf: true },
    ];
    expect(questionOf({ body })).toBe('p(?x), not q(?x)');
  });

  test('leaves out the question mark that the tool takes', () => {
    expect(questionOf({ text: 'p(?x)?' })).toBe('p(?x)');
    expect(questionOf({ text: ' p(?x), q(?x) ? ' })).toBe('p(?x), q(?x)');
  });

  test('treats blank texts as absent, like the tool', () => {
    expect(questionOf({ predicate: 'p', args: ['?x'], text: '  ', scope: '', limit: 5 })).toBe('p(?x)');
  });

  test('asks in the space of the call', () => {
    const here = replayOf(asked({ text: 'p(?x)', scope: 'plan' }, { database: 'shop', tenant: 'acme' }));
    expect(here).toEqual({
      kind: 'question',
      question: 'p(?x)',
      questions: ['p(?x)'],
      space: { database: 'shop', tenant: 'acme', scope: 'plan', unscoped: undefined },
    });
    const unscoped = replayOf(asked({ text: 'p(?x)', unscoped: true }));
    expect(unscoped).toMatchObject({ space: { unscoped: 'true', database: undefined } });
    expect(spaceOfCall({ database: 'shop', tenant: 'default' })).toEqual({
      database: 'shop',
      tenant: undefined,
      scope: undefined,
      unscoped: undefined,
    });
  });

  test('gives a reason for an invalid or truncated question', () => {
    expect(replayOf(asked({ predicate: 'p' }))).toMatchObject({ kind: 'none' });
    expect(replayOf(asked({ wrong: 1 }))).toMatchObject({ kind: 'none' });
    expect(replayOf(asked({ text: 'p(?x)' }, { argumentsCut: true }))).toMatchObject({ kind: 'none' });
    expect(replayOf(asked({ predicate: 'p', args: ['a'] }, { tool: 'tell' }))).toBeNull();
  });

  test('turns the pattern of a recall, and each goal of a window, into a question', () => {
    const recalled = { predicate: 'p', args: ['?x'], timestamp: '2026-01-02', maxFacts: 3, scope: 'plan' };
    expect(replayOf(asked(recalled, { tool: 'recall' }))).toMatchObject({
      questions: ['p(?x)'],
      space: { scope: 'plan' },
    });
    const goals = [
      { predicate: 'p', args: ['a'] },
      { predicate: 'q', args: [3], negated: true },
    ];
    expect(replayOf(asked({ goals, maxTokens: 10 }, { tool: 'context' }))).toMatchObject({
      question: 'p(a)',
      questions: ['p(a)', '-q(3)'],
    });
    expect(replayOf(asked({ maxTokens: 10 }, { tool: 'context' }))).toBeNull();
    expect(replayOf(asked({ goals: [{ args: [] }] }, { tool: 'context' }))).toMatchObject({ kind: 'none' });
  });

  test('takes plain words to Ask as words, from every tool that has some', () => {
    for (const [tool, given] of [
      ['search', { text: 'who lives in york', limit: 5 }],
      ['recall', { query: 'who lives in york', maxFacts: 3 }],
      ['context', { query: 'who lives in york', goals: [] }],
    ] as const)
      expect(replayOf(asked({ ...given, scope: 'plan' }, { tool }))).toMatchObject({
        kind: 'words',
        question: 'who lives in york',
        space: { scope: 'plan', database: undefined },
      });
    expect(replayOf(asked({ maxFacts: 3, query: ' ' }, { tool: 'recall' }))).toBeNull();
    expect(replayOf(asked({ text: 7 }, { tool: 'search' }))).toMatchObject({ kind: 'none' });
    expect(replayOf(asked({ text: 'who' }, { tool: 'search', argumentsCut: true }))).toMatchObject({
      kind: 'none',
    });
  });
});

test('the moment of a call is when it began: a write right before it is known, one while it worked is not', () => {
  const end = Date.UTC(2026, 6, 1, 10, 0, 5);
  expect(momentOfCall({ time: end, elapsedMs: 0.4 }).asKnown).toBe('2026-07-01T10:00:05.000Z');
  expect(momentOfCall({ time: end, elapsedMs: 1500.9 }).asKnown).toBe('2026-07-01T10:00:03.500Z');
  const of = (timestamp: unknown) => momentOfCall({ time: end, elapsedMs: 0, arguments: { timestamp } }).asOf;
  expect([of('2026-01-02'), of(0), of(undefined), of(Number.MAX_VALUE)]).toEqual([
    '2026-01-02T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
    undefined,
    undefined,
  ]);
});

test('the space of a call ends the moment that the address has', () => {
  expect(spaceOfCall({ database: 'shop', tenant: 'acme' })).toMatchObject({
    asOf: undefined,
    asKnown: undefined,
  });
  expect(Object.keys(spaceOfCall({ database: 'shop', tenant: 'acme' }))).toContain('asKnown');
});
