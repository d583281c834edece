import { describe, expect, it } from 'vitest';
import type { Answered, SlimStep } from '../../engine/contract/tool-contents.ts';
import { toolTexts } from './tool-text.ts';

function step(id: number, atom: string, rest: Partial<SlimStep> = {}): SlimStep {
  return { id, atom, kind: 'fact', ...rest };
}

function answer(results: string[], rest: Partial<Answered> = {}): Answered {
  return { results, count: results.length, truncated: false, generation: 1, ...rest };
}

const rule = 'g(?x, ?z) :- p(?x, ?y), p(?y, ?z)';

describe('the text beside an answer', () => {
  it('says how each result was proved', () => {
    const proof = {
      roots: [2, 0],
      steps: [
        step(0, 'p(a, b)'),
        step(1, 'p(b, c)'),
        step(2, 'g(a, c)', { kind: 'rule', rule, premises: [0, 1] }),
      ],
    };
    expect(toolTexts.ask(answer(['g(a, c)', 'p(a, b)'], { proof }), {})).toBe(
      ['2 answers:', `g(a, c) by ${rule} from p(a, b), p(b, c)`, 'p(a, b) (stored)'].join('\n'),
    );
  });

  it('folds a long chain, and says how to see its steps', () => {
    const rules = ['r(?x, ?y) :- n(?x, ?y)', 'r(?x, ?z) :- r(?x, ?y), n(?y, ?z)'];
    const steps = Array.from({ length: 20 }, (_, at) => [
      step(2 * at, `n(${at}, ${at + 1})`),
      step(2 * at + 1, `r(0, ${at + 1})`, {
        kind: 'rule',
        rule: rules[at === 0 ? 0 : 1] as string,
        premises: at === 0 ? [0] : [2 * at - 1, 2 * at],
      }),
    ]).flat();
    expect(toolTexts.ask(answer(['r(0, 20)'], { proof: { roots: [39], steps } }), {}).split('\n')).toEqual([
      '1 answer:',
      `r(0, 20) by ${rules[1]} 19 times along n(0, 1) … n(19, 20)`,
      'Ask for a conclusion inside a chain to see its own steps.',
    ]);
  });

  it('says that nothing follows where there is no result', () => {
    expect(toolTexts.ask(answer([]), {})).toContain('does not follow');
  });

  it('has every result, and says how to get more', () => {
    const results = Array.from({ length: 300 }, (_, index) => `p(${index})`);
    const text = toolTexts.ask(answer(results, { truncated: true }), {});
    expect(text.split('\n').slice(1, -1)).toEqual(results);
    expect(text).toContain('offset');
  });

  it('has the hints of the answer as its last lines', () => {
    const text = toolTexts.ask(answer([], { hints: ['perhaps alice', 'perhaps bob'] }), {});
    expect(text.split('\n').slice(-2)).toEqual(['Hint: perhaps alice', 'Hint: perhaps bob']);
  });

  it('says what is missing where the question was why not', () => {
    const whyNot = [
      {
        atom: 'g(a, c)',
        attempts: [{ rule, satisfied: ['p(a, b)'], missing: ['p(b, c)'] }],
        blockedBy: ['p(b, c) has expired'],
      },
    ];
    expect(toolTexts.ask(answer([], { whyNot }), {}).split('\n').slice(1)).toEqual([
      'g(a, c) would follow by:',
      `- ${rule}: missing p(b, c); true: p(a, b)`,
      '- p(b, c) has expired',
    ]);
  });
});

describe('the text beside a retraction', () => {
  const output = {
    status: 'retracted',
    retracted: 1,
    dependents: ['g(a, c)'],
    dependentsCount: 1,
    dependentsComplete: true,
    generation: 3,
  } as const;

  it('lists what no longer holds', () => {
    const text = toolTexts.retractPattern({ ...output, dependents: ['g(a, c)'] }, {});
    expect(text).toBe('Retracted 1 fact.\nNo longer holding, 1 conclusion:\ng(a, c)');
  });

  it('says of a dry run what would happen', () => {
    expect(toolTexts.retractPattern({ ...output, dependents: ['g(a, c)'], dryRun: true }, {})).toContain(
      'Would retract',
    );
  });

  it('says where there may be more', () => {
    const text = toolTexts.retractPattern(
      { ...output, dependents: ['g(a, c)'], dependentsComplete: false },
      {},
    );
    expect(text).toContain('may be more');
  });
});
