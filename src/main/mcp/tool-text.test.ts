import { describe, expect, it } from 'vitest';
import type { Answer, ProofStep } from '../../engine/contract/inference.ts';
import { isWellFormed } from '../../engine/contract/language.ts';
import { toolTexts } from './tool-text.ts';

function step(id: number, atom: string, rest: Partial<ProofStep> = {}): ProofStep {
  return { id, atom, kind: 'fact', rule: null, ruleId: null, premises: [], scope: null, ...rest };
}

function answer(results: string[], rest: Partial<Answer> = {}): Answer {
  return {
    results,
    bindings: results.map(() => ({})),
    count: results.length,
    truncated: false,
    total: results.length,
    generation: 1,
    elapsedMs: 1,
    ...rest,
  };
}

const rule = 'g(?x, ?z) :- p(?x, ?y), p(?y, ?z)';

describe('the text beside an answer', () => {
  it('says how each result was proved', () => {
    const proof = {
      roots: [2, 0],
      steps: [
        step(0, 'p(a, b)'),
        step(1, 'p(b, c)'),
        step(2, 'g(a, c)', { kind: 'rule', rule, ruleId: 'r', premises: [0, 1] }),
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

  it('says where a proof has more steps than it shows, however long the proof is', () => {
    const steps = Array.from({ length: 100_000 }, (_, id) =>
      id === 0 ? step(0, 'n(0)') : step(id, `n(${id})`, { kind: 'rule', rule, premises: [id - 1] }),
    );
    const text = toolTexts.ask(answer(['n(99999)'], { proof: { roots: [99_999], steps } }), {});
    expect(text.split('\n')).toHaveLength(2 + 1 + 20 + 1);
    expect(text).toContain('more steps in the structured content');
  });

  it('says that nothing follows where there is no result', () => {
    expect(toolTexts.ask(answer([]), {})).toContain('does not follow');
  });

  it('says what it left out, and how to get more', () => {
    const results = Array.from({ length: 30 }, (_, index) => `p(${index})`);
    const text = toolTexts.ask(answer(results, { truncated: true }), {});
    expect(text).toContain('10 more');
    expect(text).toContain('offset');
    expect(text.split('\n')).toHaveLength(23);
  });

  it('stays short however long atoms are, and is never cut within a character', () => {
    const text = toolTexts.ask(answer([`p(${'😀'.repeat(100_000)})`, `pp(${'😀'.repeat(100_000)})`]), {});
    expect(text.length).toBeLessThan(1000);
    expect(isWellFormed(text)).toBe(true);
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
