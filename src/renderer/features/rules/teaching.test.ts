import { describe, expect, test } from 'vitest';
import { parseRule } from '../../../engine/logic/parse.ts';
import { lessonOf, ruleForEditor } from './teaching.ts';

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

  test('a long rule is broken over lines and means the same', () => {
    const text =
      'related(?x, ?y) :- ancestor(?common_one, ?x), ancestor(?common_one, ?y), "a :- b" != ?x, ?x != ?y, not banned(?x)';
    const rule = parseRule(text);
    const shown = ruleForEditor(rule);
    expect(shown.split('\n')).toHaveLength(6);
    expect(parseRule(shown)).toEqual(rule);
  });

  test('a head that holds the arrow in quotes is not torn apart', () => {
    const rule = parseRule(
      'p("x :- y") :- q(?long_variable_name), r(?long_variable_name), s(?long_variable_name), t(a)',
    );
    expect(parseRule(ruleForEditor(rule))).toEqual(rule);
  });
});
