import { expect, it } from 'vitest';
import type { Proof, ProofStep } from '../../engine/contract/inference.ts';
import { proofText } from './proof-text.ts';

function step(id: number, atom: string, premises: number[] = [], more: Partial<ProofStep> = {}): ProofStep {
  const kind = premises.length > 0 ? 'rule' : 'fact';
  return { id, atom, kind, rule: kind === 'rule' ? 'r' : null, ruleId: null, premises, scope: null, ...more };
}

it('indents what an answer rests on, in the order of the rule', () => {
  const proof: Proof = {
    roots: [3],
    steps: [
      step(0, 'a()'),
      step(1, 'not b()', [], { kind: 'absence' }),
      step(2, '1 < 2', [], { kind: 'builtin' }),
      step(3, 'c()', [0, 1, 2], { rule: 'c() :- a(), not b(), 1 < 2', scope: 's' }),
    ],
  };
  expect(proofText(proof)).toEqual([
    'c()  [by c() :- a(), not b(), 1 < 2 in s]',
    '  a()  [stored]',
    '  not b()  [does not follow]',
    '  1 < 2  [computed]',
  ]);
});

it('unfolds a shared step once', () => {
  const proof: Proof = {
    roots: [2, 3],
    steps: [step(0, 'a()'), step(1, 'b()', [0]), step(2, 'c()', [1]), step(3, 'd()', [1, 0])],
  };
  expect(proofText(proof)).toEqual([
    'c()  [by r]',
    '  b()  [by r]',
    '    a()  [stored]',
    'd()  [by r]',
    '  b()  [shown above]',
    '  a()  [stored]',
  ]);
});

it('writes a proof of a hundred thousand levels, numbering those that are too deep to indent', () => {
  const steps = Array.from({ length: 100_000 }, (_, id) => step(id, 'p()', id === 0 ? [] : [id - 1]));
  const lines = proofText({ roots: [99_999], steps });
  expect(lines).toHaveLength(100_000);
  expect(lines[40]).toBe(`${'  '.repeat(40)}p()  [by r]`);
  expect(lines.at(-1)).toBe(`${'  '.repeat(40)}99999: p()  [stored]`);
});
