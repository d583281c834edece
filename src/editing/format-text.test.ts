import { describe, expect, test } from 'vitest';
import { parseProgram, parseRule } from '../engine/language/parse.ts';
import { layOutRule } from '../engine/language/layout.ts';
import { formatText, textFoldsOf } from './format-text.ts';
import { parseEditorText } from './read-text.ts';

describe('a rule in the editor', () => {
  test('is broken over lines if it is long, and means the same', () => {
    const text =
      'related(?x, ?y) :- ancestor(?common_one, ?x), ancestor(?common_one, ?y), "a :- b" != ?x, ?x != ?y, not banned(?x)';
    const rule = parseRule(text);
    const shown = layOutRule(rule);
    expect(shown.split('\n')).toHaveLength(6);
    expect(parseRule(shown)).toEqual(rule);
  });

  test('is not split at an arrow in quotes', () => {
    const rule = parseRule(
      'p("x :- y") :- q(?long_variable_name), r(?long_variable_name), s(?long_variable_name), t(a)',
    );
    expect(parseRule(layOutRule(rule))).toEqual(rule);
  });
});

describe('formatting', () => {
  test('lays out statements, and keeps comments and unreadable text', () => {
    const text =
      '\n\n% people\np( a,b ).   % ada\n\n\n\nq(?x):-p(?x,?y),not r(?y).\nbroken(\nr(?x) :- % why\n  p(?x, ?y).  \n';
    expect(formatText(text, 'program')).toBe(
      '% people\np(a, b).   % ada\n\nq(?x) :- p(?x, ?y), not r(?y).\nbroken(\nr(?x) :- % why\n  p(?x, ?y).\n',
    );
  });

  test('keeps the meaning, and changes nothing when repeated', () => {
    const text = 'p(50%,"a, b").-p( x ).\nt(?n):-?n=count{?y:p(?y,?z),?z>3},?n<=10.';
    const once = formatText(text, 'program');
    const meaning = (source: string) =>
      parseProgram(source).statements.map((each) => (each.kind === 'rule' ? each.rule : each.atom));
    expect(meaning(once)).toEqual(meaning(text));
    expect(formatText(once, 'program')).toBe(once);
  });

  test('writes a question on one line, or each condition on a line if it is long', () => {
    expect(formatText('p(?x,?y),not  q(?x)', 'question')).toBe('p(?x, ?y), not q(?x)');
    const long = Array.from({ length: 5 }, (_, index) => `condition_${index}(?variable, ?other)`).join(',');
    expect(formatText(long, 'question').split('\n')).toHaveLength(5);
  });
});

test('allows folding of statements of several lines and runs of comments', () => {
  const text = '% one\n% two\np(?x) :-\n  q(?x),\n  r(?x).\np(a).\n# alone\n';
  expect(textFoldsOf(text, parseEditorText(text, 'program').statements)).toEqual([
    { first: 3, last: 5, kind: 'statement' },
    { first: 1, last: 2, kind: 'comment' },
  ]);
});

test('lays out a constraint with its reason', () => {
  expect(formatText('!- p(?x),q( ?x )   "why, so"', 'constraint')).toBe('!- p(?x), q(?x) "why, so".');
  const long = `!- ${Array.from({ length: 6 }, (_, at) => `predicate_${at}(?x, constant)`).join(', ')}`;
  const once = formatText(long, 'constraint');
  expect(once.split('\n')).toHaveLength(6);
  expect(formatText(once, 'constraint')).toBe(once);
});
