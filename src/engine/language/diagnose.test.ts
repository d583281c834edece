import { expect, test } from 'vitest';
import { runAtOnce } from '../base/slices.ts';
import { diagnose, diagnosis, type KnownLanguage } from './diagnose.ts';
import { parseRule } from './parse.ts';

const nothing: KnownLanguage = { predicates: [], rules: [] };

function known(
  predicates: readonly string[],
  rules: readonly (readonly [string | null, string])[] = [],
): KnownLanguage {
  return {
    predicates: predicates.map((each) => {
      const [name = '', arity = ''] = each.split('/');
      return { name, arity: Number(arity) };
    }),
    rules: rules.map(([scope, text]) => ({ rule: parseRule(text), scope })),
  };
}

/** Diagnostics as `severity code line:column-line:column`. */
function codes(text: string, language: KnownLanguage = nothing): string[] {
  return diagnose(text, language).diagnostics.map(
    (each) =>
      `${each.severity} ${each.code} ${each.startLine}:${each.startColumn}-${each.endLine}:${each.endColumn}`,
  );
}

test('reports nothing for a valid text, and counts its rules and facts', () => {
  const text = 'parent(a, b).\nparent(b, c).\ngrand(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).';
  expect(diagnose(text, nothing)).toEqual({ diagnostics: [], rules: 1, facts: 2, constraints: 0 });
  expect(diagnose('', nothing)).toEqual({ diagnostics: [], rules: 0, facts: 0, constraints: 0 });
});

test('reports all syntax errors', () => {
  expect(codes('p(a b(.\nq(c).\nr(d)) .')).toEqual(['error syntax 1:6-1:7', 'error syntax 3:5-3:6']);
});

test('reports an unsafe variable as an error at the variable', () => {
  expect(codes('q(a). h(?x, ?z) :- q(?x), q(?z), not q(?w).')).toEqual(['error unsafe_variable 1:40-1:42']);
  expect(codes('q(a).\nh(?z) :- q(a).')).toEqual(['error unsafe_variable 2:3-2:5']);
  expect(codes('q(a).\nh(?n) :- ?n = count { ?y : q(?y), ?y < ?w }.')).toEqual([
    'error unsafe_variable 2:40-2:42',
  ]);
  expect(codes('p(?x).')).toEqual(['error unsafe_variable 1:3-1:5']);
});

test('warns of an arity other than the known one', () => {
  expect(codes('h(?x) :- parent(?x).', known(['parent/2']))).toEqual(['warning arity_drift 1:10-1:16']);
  expect(codes('parent(a). parent(a, b).')).toEqual(['warning arity_drift 1:12-1:18']);
  expect(codes('h(?x) :- parent(?x).', known(['parent/1', 'parent/2']))).toEqual([]);
});

test('warns of an unknown predicate in a body, separately if it differs only in case', () => {
  expect(codes('h(?x) :- person(?x), not dead(?x).', known(['person/1']))).toEqual([
    'warning unknown_predicate 1:26-1:30',
  ]);
  expect(codes('h(?x) :- Person(?x).', known(['person/1']))).toEqual(['warning near_miss_case 1:10-1:16']);
  expect(codes('Person(a).', known(['person/1']))).toEqual(['warning near_miss_case 1:1-1:7']);
  expect(codes('h(?n) :- ?n = count { ?x : who(?x) }.')).toEqual(['warning unknown_predicate 1:28-1:31']);
});

test('warns of a variable that occurs once, at the variable', () => {
  expect(codes('q(a, b). h(?x) :- q(?x, ?y).')).toEqual(['warning singleton_variable 1:25-1:27']);
  expect(codes('q(a, b). h(?x) :- q(?x, ?_), q(?_other, ?x).')).toEqual([]);
});

test('reports a cycle through default negation as an error if the text is part of it', () => {
  expect(codes('q(a). p(?x) :- q(?x), not r(?x). r(?x) :- p(?x).')).toEqual([
    'error negative_cycle 1:23-1:32',
  ]);
  const taught = known(['p/1', 'q/1', 'r/1'], [[null, 'p(?x) :- q(?x), not r(?x)']]);
  expect(codes('r(?x) :- p(?x).', taught)).toEqual(['error negative_cycle 1:10-1:15']);
  const scoped = known(['p/1', 'q/1', 'r/1'], [['s', 'p(?x) :- q(?x), not r(?x)']]);
  const [finding] = diagnose('r(?x) :- p(?x).', scoped).diagnostics;
  expect(finding?.message).toContain('r/1 depends on p/1');
});

test('reports duplicates in the text and of taught rules', () => {
  expect(codes('p(a). p(a).')).toEqual(['warning duplicate 1:7-1:12']);
  expect(codes('p(a).\nh(?x) :- p(?x).\nh(?y) :- p(?y).')).toEqual(['warning duplicate 3:1-3:16']);
  expect(codes('h(?y) :- p(?y).', known(['p/1', 'h/1'], [[null, 'h(?x) :- p(?x)']]))).toEqual([
    'info duplicate 1:1-1:16',
  ]);
  expect(codes('h(?y) :- p(?y).', known(['p/1', 'h/1'], [['s', 'h(?x) :- p(?x)']]))).toEqual([]);
});

test('reports a built-in with the wrong number of arguments as an error', () => {
  expect(codes('p(a). h(?x) :- p(?x), <(?x).')).toEqual(['error syntax 1:23-1:28']);
});

test('keeps the first thousand of very many diagnostics, errors before warnings', () => {
  const { diagnostics } = diagnose(`${'p(a). '.repeat(3000)}\nh(?x) :- p(a).`, nothing);
  expect(diagnostics).toHaveLength(1000);
  expect(diagnostics.filter((each) => each.severity === 'error')).toHaveLength(1);
});

test('gives the same result for a long text, diagnosed in small steps', () => {
  const text = Array.from({ length: 2000 }, (_, at) => `r${at % 900}(?x, ?y) :- b(?x).\np(a${at}).`).join(
    '\n',
  );
  const known = { predicates: [{ name: 'P', arity: 1 }], rules: [] };
  const steps = diagnosis(text, known);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  expect(count).toBeGreaterThan((5 * 4000) / 100);
  expect(step.value).toEqual(diagnose(text, known));
});

test('checks constraints where they are allowed', () => {
  const text = 'p(a).\n!- p(?x), not q(?y).\n!- p(?x), missing(?x).';
  const known = nothing;
  const { diagnostics, constraints } = runAtOnce(diagnosis(text, known, true));
  expect(constraints).toBe(2);
  expect(diagnostics.map(({ code, startLine }) => `${startLine} ${code}`)).toEqual([
    '2 singleton_variable',
    '2 unknown_predicate',
    '2 unsafe_variable',
    '3 unknown_predicate',
  ]);
  expect(diagnose('!- p(?x).', known).diagnostics[0]?.code).toBe('syntax');
});
