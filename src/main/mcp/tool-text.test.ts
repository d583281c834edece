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

  it('has every step of a small proof, down to what is stored, and a rule that comes again once', () => {
    const recursive = 'a(?x, ?z) :- p(?x, ?y), a(?y, ?z)';
    const direct = 'a(?x, ?y) :- p(?x, ?y)';
    const proof = {
      roots: [5],
      steps: [
        step(0, 'p(a, b)'),
        step(1, 'p(b, c)'),
        step(2, 'p(c, d)'),
        step(3, 'a(c, d)', { kind: 'rule', rule: direct, premises: [2] }),
        step(4, 'a(b, d)', { kind: 'rule', rule: recursive, premises: [1, 3] }),
        step(5, 'a(a, d)', { kind: 'rule', rule: recursive, premises: [0, 4] }),
      ],
    };
    expect(toolTexts.ask(answer(['a(a, d)'], { proof }), {}).split('\n')).toEqual([
      '1 answer:',
      `a(a, d) by rule 1 (${recursive}) from p(a, b), a(b, d)`,
      'where',
      `a(b, d) by rule 1 from p(b, c), a(c, d)`,
      `a(c, d) by ${direct} from p(c, d)`,
    ]);
  });

  it('has every step of a long proof, as the structured content has', () => {
    const steps = Array.from({ length: 1000 }, (_, id) =>
      id === 0 ? step(0, 'n(0)') : step(id, `n(${id})`, { kind: 'rule', rule, premises: [id - 1] }),
    );
    const text = toolTexts.ask(answer(['n(999)'], { proof: { roots: [999], steps } }), {});
    for (const { atom } of steps)
      expect(text.includes(`${atom} `) || text.includes(`from ${atom}`)).toBe(true);
    // One answer, its line, "where", and a line for each conclusion below it.
    expect(text.split('\n')).toHaveLength(3 + 998);
  });

  it('has a long premise whole, in a line of its own', () => {
    const long = `p(${'x'.repeat(1000)})`;
    const proof = {
      roots: [1],
      steps: [step(0, long), step(1, 'q(a)', { kind: 'rule', rule, premises: [0] })],
    };
    expect(
      toolTexts
        .ask(answer(['q(a)'], { proof }), {})
        .split('\n')
        .slice(-2),
    ).toEqual(['where', `${long} (stored)`]);
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

  it('names built-ins and absences as what they are', () => {
    const proof = {
      roots: [0, 1],
      steps: [step(0, '1 < 2', { kind: 'builtin' }), step(1, 'not p(a)', { kind: 'absence' })],
    };
    expect(toolTexts.ask(answer(['1 < 2', 'not p(a)'], { proof }), {})).toBe(
      ['2 answers:', '1 < 2 (builtin)', 'not p(a) (absence)'].join('\n'),
    );
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
