import { describe, expect, test } from 'vitest';
import { lessonOf } from './teaching.ts';

describe('what the editor teaches', () => {
  test('facts and rules are told apart', () => {
    const lesson = lessonOf('parent(a, b). -parent(b, a).\nancestor(?x, ?y) :- parent(?x, ?y).');
    expect(lesson.isReady).toBe(true);
    expect(lesson.facts.map((fact) => fact.truthVal)).toEqual([true, false]);
    expect(lesson.rules).toHaveLength(1);
  });

  test('nothing is taught while something cannot be read, or nothing is there', () => {
    expect(lessonOf('p(a). q(').isReady).toBe(false);
    expect(lessonOf('% only a comment').isReady).toBe(false);
  });
});
