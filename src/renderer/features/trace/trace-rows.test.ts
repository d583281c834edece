import { describe, expect, test } from 'vitest';
import {
  allEvents,
  filtered,
  eventIndexOf,
  eventPredicateOf,
  eventPredicatesOf,
  sorted,
  toggled,
  type EventRow,
} from './trace-rows.ts';

function event(seq: number, port: EventRow['port'], atom: string, ruleId: string | null = null): EventRow {
  return { seq, port, depth: 0, atom, ruleId, scope: null };
}

const events = [
  event(1, 'call', 'path(a, ?y)'),
  event(2, 'call', 'edge(a, ?y)'),
  event(3, 'exit', 'edge(a, b)'),
  event(4, 'exit', 'path(a, b)', 'r1'),
  event(5, 'reuse', 'path(a, ?y)', 'r2'),
  event(6, 'fail', '-edge(b, ?y)'),
];

describe('the events of a trace', () => {
  test('are filtered by rule, predicate and port, together', () => {
    const seqs = (filter: Partial<typeof allEvents>) =>
      filtered(events, { ...allEvents, ...filter }).map(({ seq }) => seq);
    expect(seqs({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(seqs({ ruleId: 'r1' })).toEqual([4]);
    expect(seqs({ predicate: 'path' })).toEqual([1, 4, 5]);
    expect(seqs({ predicate: 'path', port: 'call' })).toEqual([1]);
    expect(seqs({ port: 'exit' })).toEqual([3, 4]);
  });

  test('name their predicates, the explicitly negated separately', () => {
    expect(eventPredicatesOf(events)).toEqual(['-edge', 'edge', 'path']);
    expect(eventPredicateOf('not edge(a, ?_)')).toBe('edge');
    expect(eventPredicateOf('3 < 5')).toBeNull();
    expect(eventPredicateOf('"a(b)" < 5')).toBeNull();
    expect(eventPredicateOf('3 = count { ?y : p(a, ?y) }')).toBeNull();
  });

  test('replace a filtered-out step by the one before it', () => {
    const shown = filtered(events, { ...allEvents, predicate: 'path' });
    expect(eventIndexOf(shown, 4)).toBe(1);
    expect(eventIndexOf(shown, 3)).toBe(0);
    expect(eventIndexOf(shown, 6)).toBe(2);
    expect(eventIndexOf(shown.slice(1), 1)).toBe(0);
    expect(eventIndexOf(shown, null)).toBe(0);
    expect(eventIndexOf([], 3)).toBe(-1);
  });
});

describe('the order of rows', () => {
  const rows = [
    { goal: 'b', calls: 2, answers: 1 },
    { goal: 'a', calls: 2, answers: 5 },
    { goal: 'c', calls: 1, answers: 3 },
  ];
  test('is by one field, in either direction, and stable', () => {
    const goals = (key: 'goal' | 'calls' | 'answers', direction: 'asc' | 'desc') =>
      sorted(rows, { key, direction }).map(({ goal }) => goal);
    expect(goals('goal', 'asc')).toEqual(['a', 'b', 'c']);
    expect(goals('calls', 'desc')).toEqual(['b', 'a', 'c']);
    expect(goals('answers', 'asc')).toEqual(['b', 'c', 'a']);
  });

  test('begins with the greatest number or the first text, then reverses', () => {
    const first = toggled<'goal' | 'calls'>({ key: 'goal', direction: 'asc' }, 'calls', false);
    expect(first).toEqual({ key: 'calls', direction: 'desc' });
    expect(toggled(first, 'calls', false)).toEqual({ key: 'calls', direction: 'asc' });
    expect(toggled(first, 'goal', true)).toEqual({ key: 'goal', direction: 'asc' });
  });
});
