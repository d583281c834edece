import { describe, expect, test } from 'vitest';
import { lessonOf } from './teaching.ts';

describe('what the editor teaches', () => {
  test('distinguishes facts and rules', () => {
    const lesson = lessonOf('parent(a, b). -parent(b, a).\nancestor(?x, ?y) :- parent(?x, ?y).');
    expect(lesson.isReady).toBe(true);
    expect(lesson.facts.map((fact) => fact.truthVal)).toEqual([true, false]);
    expect(lesson.rules).toHaveLength(1);
  });

  test('is nothing while something is unreadable, or the text is empty', () => {
    expect(lessonOf('p(a). q(').isReady).toBe(false);
    expect(lessonOf('% only a comment').isReady).toBe(false);
  });
});
