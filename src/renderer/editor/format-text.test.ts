import { describe, expect, test } from 'vitest';
import { parseProgram, parseRule } from '../../engine/language/parse.ts';
import { textFoldsOf, formatText, ruleForEditor } from './format-text.ts';

describe('a rule for the editor', () => {
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

describe('formatting', () => {
  test('statements are laid out, comments and what cannot be read stay', () => {
    const text =
      '\n\n% people\np( a,b ).   % ada\n\n\n\nq(?x):-p(?x,?y),not r(?y).\nbroken(\nr(?x) :- % why\n  p(?x, ?y).  \n';
    expect(formatText(text, 'program')).toBe(
      '% people\np(a, b).   % ada\n\nq(?x) :- p(?x, ?y), not r(?y).\nbroken(\nr(?x) :- % why\n  p(?x, ?y).\n',
    );
  });

  test('what is formatted means the same and stays as it is when formatted again', () => {
    const text = 'p(50%,"a, b").-p( x ).\nt(?n):-?n=count{?y:p(?y,?z),?z>3},?n<=10.';
    const once = formatText(text, 'program');
    const meaning = (source: string) =>
      parseProgram(source).statements.map((each) => (each.kind === 'rule' ? each.rule : each.atom));
    expect(meaning(once)).toEqual(meaning(text));
    expect(formatText(once, 'program')).toBe(once);
  });

  test('a question is one line, or a line a condition where it is long', () => {
    expect(formatText('p(?x,?y),not  q(?x)', 'question')).toBe('p(?x, ?y), not q(?x)');
    const long = Array.from({ length: 5 }, (_, index) => `condition_${index}(?variable, ?other)`).join(',');
    expect(formatText(long, 'question').split('\n')).toHaveLength(5);
  });
});

test('statements of several lines and runs of comments can be folded', () => {
  const text = '% one\n% two\np(?x) :-\n  q(?x),\n  r(?x).\np(a).\n# alone\n';
  expect(textFoldsOf(text, 'program')).toEqual([
    { first: 3, last: 5, kind: 'statement' },
    { first: 1, last: 2, kind: 'comment' },
  ]);
});
