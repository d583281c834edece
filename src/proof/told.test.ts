import { describe, expect, test } from 'vitest';
import type { ProofStep } from '../engine/contract/inference.ts';
import { withFoldedChains } from './chains.ts';
import { toldAsMarkdown, toldAsText, toldProof, type ToldWords } from './told.ts';

function step(id: number, atom: string, premises: number[] = [], more: Partial<ProofStep> = {}): ProofStep {
  const isRule = premises.length > 0;
  return {
    id,
    atom,
    kind: isRule ? 'rule' : 'fact',
    rule: isRule ? 'lives_in(?p, ?c) :- works(?p, ?f), at(?f, ?c)' : null,
    ruleId: isRule ? 'r1' : null,
    premises,
    scope: null,
    ...more,
  };
}

const steps = [
  step(0, 'works(ada, acme)'),
  step(1, 'at(acme, Paris)'),
  step(2, 'not moved(ada, ?_)', [], { kind: 'absence' }),
  step(3, '3 < 5', [], { kind: 'builtin' }),
  step(4, 'lives_in(ada, Paris)', [0, 1, 2, 3]),
];
const byId = new Map(steps.map((each) => [each.id, each]));

const templates: ToldWords = {
  templateOf: (predicate, arity) =>
    arity === 2 ? { lives_in: '{1} lives in {2}', moved: '{1} moved to {2}' }[predicate] : undefined,
  ruleOf: () => ({ name: 'Home', description: 'people live where their firm is.' }),
};

describe('a told proof', () => {
  test('says each conclusion by its template and its rule by its description', () => {
    expect(toldAsText(toldProof(byId, 4, templates))).toBe(
      [
        'ada lives in Paris because works(ada, acme), at(acme, Paris), it is not known that ada moved to anything and 3 < 5 (people live where their firm is).',
        '',
        'It rests on:',
        '- works(ada, acme)',
        '- at(acme, Paris)',
        '- it is not known that ada moved to anything',
        '',
      ].join('\n'),
    );
  });

  test('writes what it has no words for as code, in Markdown between backticks', () => {
    expect(toldAsMarkdown(toldProof(byId, 4))).toBe(
      [
        '# Why `lives_in(ada, Paris)`',
        '',
        '1. `lives_in(ada, Paris)` because `works(ada, acme)`, `at(acme, Paris)`, nothing matches `moved(ada, ?_)` and `3 < 5` by `lives_in(?p, ?c) :- works(?p, ?f), at(?f, ?c)`.',
        '',
        '## It rests on',
        '',
        '- `works(ada, acme)`',
        '- `at(acme, Paris)`',
        '- nothing matches `moved(ada, ?_)`',
        '',
      ].join('\n'),
    );
  });

  test('keeps names with marks of Markdown as they are', () => {
    const odd = new Map([[0, step(0, 'p(a`b, *c*)')]]);
    expect(toldAsMarkdown(toldProof(odd, 0))).toContain('1. ``p(a`b, *c*)`` was asserted.');
    const said = toldProof(odd, 0, { templateOf: () => '{1} is {2}' });
    expect(toldAsMarkdown(said)).toContain('1. a\\`b is \\*c\\* was asserted.');
  });

  test('tells a conclusion once, and an explicit negation as such', () => {
    const shared = [step(0, '-p(a)'), step(1, 'q(a)', [0]), step(2, 'r(a)', [1, 1, 0])];
    const told = toldProof(new Map(shared.map((each) => [each.id, each])), 2, {
      templateOf: () => '{1} holds',
    });
    expect(told.sentences.map((sentence) => sentence.step)).toEqual([2, 1]);
    expect(toldAsText(told)).toContain('a holds because it is not so that a holds');
  });

  test('says a folded chain in one sentence', () => {
    const chain = Array.from({ length: 20 }, (_, at) => [
      step(at * 2, `next(s${at}, s${at + 1})`),
      step(at * 2 + 1, `reach(s0, s${at + 1})`, at === 0 ? [0] : [at * 2 - 1, at * 2], {
        ruleId: at === 0 ? 'r1' : 'r2',
      }),
    ]).flat();
    const folded = withFoldedChains({ roots: [39], steps: chain });
    const told = toldProof(new Map(folded.steps.map((each) => [each.id, each])), 39, {
      ruleOf: () => ({ name: 'Further', description: null }),
    });
    expect(toldAsText(told)).toBe(
      'reach(s0, s20), by applying one rule 19 times along next(s0, s1) … next(s19, s20) (rule “Further”).\n',
    );
  });
});
