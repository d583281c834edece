import { describe, expect, test } from 'vitest';
import type { Proof, ProofStep } from '../engine/contract/inference.ts';
import {
  chainAround,
  chainInWords,
  MIN_CHAIN,
  withFactsOnly,
  withFoldedChains,
  withUnfoldedChains,
} from './chains.ts';

const start = { rule: 'reach(?x, ?y) :- next(?x, ?y)', ruleId: 'r1' };
const left = { rule: 'reach(?x, ?z) :- reach(?x, ?y), next(?y, ?z)', ruleId: 'r2' };
const right = { rule: 'reach(?x, ?z) :- next(?x, ?y), reach(?y, ?z)', ruleId: 'r3' };

function fact(id: number, atom: string): ProofStep {
  return { id, atom, kind: 'fact', rule: null, ruleId: null, premises: [], scope: null };
}

function derived(id: number, atom: string, by: typeof start, premises: number[]): ProofStep {
  return { id, atom, kind: 'rule', ...by, premises, scope: null };
}

/** reach(s0, s<length>) by left-linear recursion: facts have even ids, conclusions odd ones. */
function leftLinear(length: number): Proof {
  const steps: ProofStep[] = [];
  for (let at = 0; at < length; at++) {
    const atom = `reach(s0, s${at + 1})`;
    steps.push(fact(at * 2, `next(s${at}, s${at + 1})`));
    steps.push(
      at === 0 ? derived(1, atom, start, [0]) : derived(at * 2 + 1, atom, left, [at * 2 - 1, at * 2]),
    );
  }
  return { roots: [length * 2 - 1], steps };
}

/** reach(s0, s<length>) by right-linear recursion. */
function rightLinear(length: number): Proof {
  const steps: ProofStep[] = [];
  for (let at = length - 1; at >= 0; at--) {
    const id = (length - 1 - at) * 2;
    steps.push(fact(id, `next(s${at}, s${at + 1})`));
    const atom = `reach(s${at}, s${length})`;
    steps.push(id === 0 ? derived(1, atom, start, [0]) : derived(id + 1, atom, right, [id, id - 1]));
  }
  return { roots: [length * 2 - 1], steps };
}

function only(proof: Proof) {
  const { steps } = withFoldedChains(proof);
  return { count: steps.length, chain: steps.find(({ id }) => id === proof.roots[0])?.chain };
}

describe('rules that take turns', () => {
  const odd = { rule: 'odd(?n) :- succ(?m, ?n), even(?m)', ruleId: 'o' };
  const even = { rule: 'even(?n) :- succ(?m, ?n), odd(?m)', ruleId: 'e' };

  /** even(n) or odd(n): facts have even ids, conclusions odd ones. */
  function counted(to: number): Proof {
    const steps: ProofStep[] = [fact(0, 'even(0)')];
    for (let n = 1; n <= to; n++) {
      const [name, by] = n % 2 === 0 ? (['even', even] as const) : (['odd', odd] as const);
      steps.push(fact(n * 2, `succ(${n - 1}, ${n})`));
      steps.push(derived(n * 2 + 1, `${name}(${n})`, by, [n * 2, n === 1 ? 0 : n * 2 - 1]));
    }
    return { roots: [to * 2 + 1], steps };
  }

  test('are one step with the number of their rounds', () => {
    const proof = counted(100);
    const folded = withFoldedChains(proof);
    const chain = folded.steps.find(({ id }) => id === proof.roots[0])?.chain;
    // The first link, odd(1), rests on a fact, so that even(2) is the base of the chain.
    expect(chain === undefined ? '' : chainInWords(chain)).toBe(
      '49 times 2 rules in turn along succ(99, 100) … succ(2, 3)',
    );
    expect(chain?.members).toHaveLength(98);
    expect(withUnfoldedChains(folded)).toEqual(proof);
  });

  test('are read where there are few rounds, or no turns', () => {
    expect(withFoldedChains(counted(6)).hidden).toEqual([]);
    const steps = counted(40).steps.map((step) =>
      step.id % 6 === 1 ? { ...step, ruleId: `${step.id}` } : step,
    );
    expect(withFoldedChains({ roots: [81], steps }).hidden).toEqual([]);
  });
});

describe('a chain of linear recursion', () => {
  test.each([
    ['left', leftLinear(150)],
    ['right', rightLinear(150)],
  ])('of 300 steps that recurses to the %s is one step, in the order of its path', (_, proof) => {
    expect(proof.steps).toHaveLength(300);
    const { count, chain } = only(proof);
    expect(count).toBe(1);
    expect(chain?.members).toHaveLength(150);
    expect(chain === undefined ? '' : chainInWords(chain)).toBe(
      '149 times along next(s0, s1) … next(s149, s150)',
    );
  });

  test('is folded only from a length where that helps', () => {
    expect(only(leftLinear(MIN_CHAIN)).chain).toBeUndefined();
    expect(only(leftLinear(MIN_CHAIN + 1)).chain?.times).toBe(MIN_CHAIN);
  });

  test('is split around a step that keeps its own line', () => {
    const proof = leftLinear(40);
    const { steps } = withFoldedChains(proof, new Set([39]));
    const [below, apart, above] = [37, 39, 79].map((id) => steps.find((step) => step.id === id));
    expect(above?.chain?.members.at(-1)).toBe(41);
    expect(above?.premises).toEqual([39]);
    expect(apart?.chain).toBeUndefined();
    expect(apart?.premises).toEqual([37, 38]);
    expect(below?.chain?.times).toBe(18);
    expect(steps.map(({ id }) => id)).toEqual([37, 38, 39, 79]);
  });

  test('ends at a step that something else uses, and at other answers', () => {
    const proof = leftLinear(40);
    const shared = derived(80, 'both()', start, [79, 39]);
    const { steps } = withFoldedChains({ roots: [80], steps: [...proof.steps, shared] });
    expect(steps.find(({ id }) => id === 79)?.chain?.members.at(-1)).toBe(41);
    expect(steps.find(({ id }) => id === 39)?.chain?.times).toBe(19);
    const two = withFoldedChains({ ...proof, roots: [79, 39] });
    expect(two.steps.find(({ id }) => id === 79)?.premises).toEqual([39]);
  });

  test('keeps the step it begins with if that has its own proof', () => {
    const proof = leftLinear(20);
    const steps = proof.steps.slice(1).map((step) => (step.id === 1 ? { ...step, premises: [100] } : step));
    steps.push(derived(100, 'road(s0, s1)', start, [101]), fact(101, 'next(s0, s1)'));
    const folded = withFoldedChains({ ...proof, steps });
    const top = folded.steps.find(({ id }) => id === 39);
    expect(top?.premises).toEqual([1]);
    expect(top?.chain?.along).toEqual(['next(s1, s2)', 'next(s19, s20)']);
    expect(folded.steps.map(({ id }) => id)).toEqual([1, 39, 100, 101]);
  });

  test('is not seen in a rule with two premises of its predicate', () => {
    const steps = leftLinear(12).steps.map((step) =>
      step.premises.length === 2 ? { ...step, premises: [...step.premises, 1] } : step,
    );
    expect(only({ roots: [23], steps }).chain).toBeUndefined();
  });

  test('is found around each of its steps', () => {
    expect(chainAround(leftLinear(10), 7)).toContain(19);
    expect(chainAround(leftLinear(3), 3)).toBeNull();
  });

  test('unfolds to what it was', () => {
    const proof = leftLinear(30);
    expect(withUnfoldedChains(withFoldedChains(proof))).toEqual(proof);
  });
});

test('the facts alone are the leaves of the proof under its root', () => {
  const { roots, steps } = withFactsOnly(leftLinear(4), 7);
  expect(roots).toEqual([7]);
  expect(steps.map(({ atom }) => atom)).toEqual([
    'next(s0, s1)',
    'next(s1, s2)',
    'next(s2, s3)',
    'next(s3, s4)',
    'reach(s0, s4)',
  ]);
  expect(steps.at(-1)?.premises).toEqual([0, 2, 4, 6]);
});
