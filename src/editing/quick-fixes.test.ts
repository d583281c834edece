import { describe, expect, test } from 'vitest';
import { parseRule } from '../engine/language/parse.ts';
import { diagnoseText } from './diagnose-text.ts';
import { fixerOf } from './quick-fixes.ts';
import { applyTextEdits, parseEditorText, type TextMode } from './read-text.ts';

const knowledge = {
  predicates: [
    { name: 'parent', arity: 2 },
    { name: 'person', arity: 1 },
    { name: 'married', arity: 2 },
  ],
  rules: [{ id: 'r1', rule: parseRule('child(?x, ?y) :- parent(?y, ?x)'), scope: null }],
};

/** The text after each fix of each diagnostic with that code, by title. */
function fixed(text: string, code: string, mode: TextMode = 'program'): Record<string, string> {
  const found = diagnoseText(text, mode, knowledge).filter((each) => each.code === code);
  expect(found.length, `a diagnostic ${code}`).toBeGreaterThan(0);
  const fixes = found.flatMap((each) =>
    fixerOf(text, () => parseEditorText(text, mode), knowledge.predicates)(each),
  );
  return Object.fromEntries(fixes.map(({ title, edits }) => [title, applyTextEdits(text, edits)]));
}

describe('quick fixes', () => {
  test('replace an unsafe variable of the head by one that the body binds', () => {
    expect(fixed('p(?x, ?w) :- parent(?x, ?y).', 'unsafe_variable')).toMatchObject({
      'Change ?w to ?y': 'p(?x, ?y) :- parent(?x, ?y).',
    });
  });

  test('replace an unsafe variable under not by ?_', () => {
    expect(fixed('p(?x) :- person(?x), not parent(?x, ?y).', 'unsafe_variable')).toMatchObject({
      'Let it be anything: write ?_ in place of ?y': 'p(?x) :- person(?x), not parent(?x, ?_).',
    });
  });

  test('replace a variable in a fact by the constant of its name', () => {
    expect(fixed('person(?ada).', 'unsafe_variable')).toEqual({ 'Write the constant ada': 'person(ada).' });
  });

  test('remove extra arguments, and add missing ones', () => {
    expect(Object.values(fixed('p(?x) :- person(?x), parent(?x).', 'arity_drift'))).toEqual([
      'p(?x) :- person(?x), parent(?x, ?_).',
    ]);
    expect(Object.values(fixed('person(ada, 7).', 'arity_drift'))).toEqual(['person(ada).']);
    expect(Object.values(fixed('p(?x) :- person(?x), parent().', 'arity_drift'))).toEqual([
      'p(?x) :- person(?x), parent(?_, ?_).',
    ]);
  });

  test('replace a slip in case and a typo by the known name', () => {
    expect(Object.values(fixed('p(?x) :- Parent(?x, ?x).', 'near_miss_case'))).toEqual([
      'p(?x) :- parent(?x, ?x).',
    ]);
    expect(Object.values(fixed('p(?x) :- praent(?x, ?x).', 'unknown_predicate'))).toEqual([
      'p(?x) :- parent(?x, ?x).',
    ]);
  });

  test('replace a singleton by ?_, by _ before its name, or by another variable', () => {
    const fixes = fixed('p(?child) :- parent(?child, ?_), person(?chidl).', 'singleton_variable');
    expect(Object.keys(fixes)).toEqual([
      'It may be anything: write ?_',
      'Keep the name: write ?_chidl',
      'Change ?chidl to ?child',
    ]);
    expect(fixes['Change ?chidl to ?child']).toBe('p(?child) :- parent(?child, ?_), person(?child).');
  });

  test('remove a duplicate with its line', () => {
    const text = 'person(ada).\nperson(ada).\nperson(bob).';
    expect(Object.values(fixed(text, 'duplicate'))).toEqual(['person(ada).\nperson(bob).']);
    expect(Object.values(fixed('person(ada). person(ada). person(bob).', 'duplicate'))).toEqual([
      'person(ada). person(bob).',
    ]);
    expect(Object.keys(fixed('child(?a, ?b) :- parent(?b, ?a).', 'duplicate'))).toEqual([
      'Take it out: it is taught already',
    ]);
  });

  test('break a cycle through negation at the premise that closes it, if the rule stays safe', () => {
    const text = 'in(?x) :- person(?x), not out(?x).\nout(?x) :- not in(?x), person(?x).';
    expect(fixed(text, 'negative_cycle')).toEqual({
      'Break the cycle: take out not out(?x)': text.replace(', not out(?x)', ''),
      'Break the cycle: take out not in(?x)': text.replace('not in(?x), ', ''),
    });
    const bare = 'p(?x) :- person(?x), ?n = count { ?y : p(?y) }, ?n > 1.';
    expect(fixed(bare, 'negative_cycle')).toEqual({});
  });

  test('add a missing full stop', () => {
    expect(Object.values(fixed('person(ada). person(cy)\nperson(bob).', 'syntax'))).toEqual([
      'person(ada). person(cy).\nperson(bob).',
    ]);
  });

  test('have positions within the question', () => {
    expect(Object.values(fixed('person(?x),\n  Parent(?x, ?y)', 'near_miss_case', 'question'))).toEqual([
      'person(?x),\n  parent(?x, ?y)',
    ]);
  });

  test('each remove their diagnostic', () => {
    const text =
      'p(?x, ?w) :- parent(?x, ?y), not married(?z, ?x).\nq(?x) :- Person(?x).\nperson(a, b).\nr(?u) :- person(?u), prent(?u, ?v).';
    for (const each of diagnoseText(text, 'program', knowledge))
      for (const fix of fixerOf(text, () => parseEditorText(text, 'program'), knowledge.predicates)(each)) {
        const after = diagnoseText(applyTextEdits(text, fix.edits), 'program', knowledge);
        expect(after.map(({ message }) => message)).not.toContain(each.message);
      }
  });
});
