import { describe, expect, it } from 'vitest';
import type { ProofStep } from '../engine/contract/inference.ts';
import { withFoldedChains } from './chains.ts';
import { cutText, proofOutline, proofSentences, type TextStep, withFoldedText } from './proof-text.ts';

function step(id: number, atom: string, premises: number[] = [], more: Partial<ProofStep> = {}): ProofStep {
  const kind = premises.length > 0 ? 'rule' : 'fact';
  return { id, atom, kind, rule: kind === 'rule' ? 'r' : null, ruleId: null, premises, scope: null, ...more };
}

const rule = 'elder(?x) :- ancestor(?x, ?y), not orphan(?x), ?n = count { ?z : parent(?x, ?z) }, ?n >= 1';
const recursive = 'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)';

/** Every kind of step, a shared conclusion, a rule used repeatedly, scopes and alternatives. */
const proof = {
  roots: [8, 1],
  steps: [
    step(0, 'parent(ada, ben)', [], { scope: 'family' }),
    step(1, 'parent(ben, cleo)'),
    step(2, 'ancestor(cleo, cleo)', [1], { rule: recursive }),
    step(3, 'ancestor(ada, cleo)', [0, 2], {
      rule: recursive,
      scope: 'family',
      alternatives: [{ rule: 'other', ruleId: 'o', premises: [2] }],
    }),
    step(4, 'not orphan(ada)', [], { kind: 'absence' }),
    step(5, '1 = count { ?z : parent(ada, ?z) }', [0], { kind: 'aggregate', rule: null }),
    step(6, '1 >= 1', [], { kind: 'builtin' }),
    step(7, 'elder(ada)', [3, 4, 5, 6], { rule }),
    step(8, 'elder(ada), ancestor(ada, cleo)', [7, 3], { rule: null }),
  ],
};

describe('the text of a proof', () => {
  it('for people indents what each step rests on', () => {
    expect(proofOutline(proof).join('\n')).toBe(`elder(ada), ancestor(ada, cleo)  [from its parts]
  elder(ada)  [by ${rule}]
    ancestor(ada, cleo)  [by ${recursive} in scope family]
      parent(ada, ben)  [stored in scope family]
      ancestor(cleo, cleo)  [by ${recursive}]
        parent(ben, cleo)  [stored]
    not orphan(ada)  [absent]
    1 = count { ?z : parent(ada, ?z) }  [computed]
      parent(ada, ben)  [stored in scope family]
    1 >= 1  [computed]
  ancestor(ada, cleo)  [shown above]
parent(ben, cleo)  [stored]`);
  });

  it('for models has a sentence for each conclusion', () => {
    const results = ['elder(ada), ancestor(ada, cleo)', 'parent(ben, cleo)'];
    const premises = 'ancestor(ada, cleo), not orphan(ada), 1 = count { ?z : parent(ada, ?z) }, 1 >= 1';
    expect(
      proofSentences(results, proof).join('\n'),
    ).toBe(`elder(ada), ancestor(ada, cleo) from elder(ada), ancestor(ada, cleo)
parent(ben, cleo) (stored)
where
elder(ada) by ${rule} from ${premises}
ancestor(ada, cleo) by rule 1 (${recursive}) from parent(ada, ben), ancestor(cleo, cleo) in scope family, also by other
1 = count { ?z : parent(ada, ?z) } from parent(ada, ben)
ancestor(cleo, cleo) by rule 1 from parent(ben, cleo)`);
    const roots = [4, 6, 0];
    expect(proofSentences(['a', 'b', 'c', 'd'], { ...proof, roots })).toEqual([
      'a (absent)',
      'b (computed)',
      'c (stored in scope family)',
      'd',
    ]);
  });

  it('says that a proof is cut', () => {
    const last = 'The proof has more steps: ask a premise to see its own.';
    expect(proofOutline({ ...proof, truncated: true }).at(-1)).toBe(last);
    expect(proofSentences([], { ...proof, truncated: true })).toEqual([last]);
  });
});

describe('the outline', () => {
  it('says how many premises are left out, and where a chosen way leads back', () => {
    const circle = [step(0, 'a()', [1]), step(1, 'b()', [0, 2]), step(2, 'c()', [])];
    expect(proofOutline({ roots: [0], steps: circle }, new Map([[1, 2]]))).toEqual([
      'a()  [by r]',
      '  b()  [by r, 2 known hidden]',
      '    a()  [in a circle: shown above]',
      '    c()  [stored]',
    ]);
  });

  it('of a hundred thousand levels numbers those that are too deep to indent', () => {
    const steps = Array.from({ length: 100_000 }, (_, id) => step(id, 'p()', id === 0 ? [] : [id - 1]));
    const lines = proofOutline({ roots: [99_999], steps });
    expect(lines).toHaveLength(100_000);
    expect(lines[40]).toBe(`${'  '.repeat(40)}p()  [by r]`);
    expect(lines.at(-1)).toBe(`${'  '.repeat(40)}99999: p()  [stored]`);
  });
});

describe('the sentences', () => {
  it('have every step of a long proof', () => {
    const steps = Array.from(
      { length: 1000 },
      (_, id): TextStep =>
        id === 0
          ? { id, atom: 'n(0)', kind: 'fact' }
          : { id, atom: `n(${id})`, kind: 'rule', rule, premises: [id - 1] },
    );
    const lines = proofSentences(['n(999)'], { roots: [999], steps });
    for (const { atom } of steps)
      expect(lines.some((line) => line.includes(`${atom} `) || line.endsWith(`from ${atom}`))).toBe(true);
    // One answer, "where", and a line for each conclusion below it.
    expect(lines).toHaveLength(2 + 998);
  });

  it('have a long premise whole, in a line of its own', () => {
    const long = `p(${'x'.repeat(1000)})`;
    const steps = [step(0, long), step(1, 'q(a)', [0])];
    expect(proofSentences(['q(a)'], { roots: [1], steps }).slice(-2)).toEqual(['where', `${long} (stored)`]);
  });
});

it('text is cut where it is too long, never within a character', () => {
  expect(cutText('abc', 3)).toBe('abc');
  expect(cutText('abcd', 3)).toBe('abc…');
  expect(cutText('ab😀c', 3)).toBe('ab…');
  expect(cutText('ab😀c', 4)).toBe('ab😀…');
});

it('a folded chain is one line that says how often and along what', () => {
  const steps: ProofStep[] = Array.from({ length: 10 }, (_, id) => ({
    id,
    atom: `p(${id})`,
    kind: id === 0 ? 'fact' : 'rule',
    rule: id === 0 ? null : 'p(?y) :- p(?x)',
    ruleId: id === 0 ? null : 'r1',
    premises: id === 0 ? [] : [id - 1],
    scope: null,
  }));
  const folded = withFoldedChains({ roots: [9], steps });
  expect(proofOutline(folded)).toEqual(['p(9)  [by p(?y) :- p(?x), 9 times]', '  p(0)  [stored]']);
  expect(proofSentences(['p(9)'], folded)).toEqual(['p(9) by p(?y) :- p(?x) 9 times from p(0)']);
});

describe('a proof by linear recursion, as a tool gives it', () => {
  const single = 'reach(?x, ?y) :- next(?x, ?y)';
  const further = 'reach(?x, ?z) :- reach(?x, ?y), next(?y, ?z)';

  /** Without the null and empty fields; `more`: fields of the step that reaches so far. */
  function chain(length: number, more: Readonly<Record<number, Partial<TextStep>>> = {}) {
    const steps = Array.from({ length }, (_, at): TextStep[] => [
      { id: 2 * at, atom: `next(s${at}, s${at + 1})`, kind: 'fact' },
      {
        id: 2 * at + 1,
        atom: `reach(s0, s${at + 1})`,
        kind: 'rule',
        rule: at === 0 ? single : further,
        premises: at === 0 ? [0] : [2 * at - 1, 2 * at],
        ...more[at + 1],
      },
    ]);
    return { roots: [2 * length - 1], steps: steps.flat() };
  }

  it('is one line in an outline and one sentence for a model', () => {
    const folded = withFoldedText(chain(300));
    const times = '299 times along next(s0, s1) … next(s299, s300)';
    expect(proofOutline(folded)).toEqual([`reach(s0, s300)  [by ${further}, ${times}]`]);
    expect(proofSentences(['reach(s0, s300)'], folded)).toEqual([`reach(s0, s300) by ${further} ${times}`]);
  });

  it('keeps a line for a step with alternatives and for what is in another scope', () => {
    const shown = proofOutline(
      withFoldedText(
        chain(30, {
          10: { alternatives: [{ rule: 'other' }] },
          20: { scope: 'trial' },
          21: { scope: 'trial' },
        }),
      ),
    );
    for (const atom of ['reach(s0, s10)', 'reach(s0, s20)', 'reach(s0, s21)'])
      expect(shown.some((line) => line.trim().startsWith(`${atom}  [`))).toBe(true);
    expect(shown.filter((line) => line.includes(' times along '))).toHaveLength(3);
  });

  it('is left as it is if it is short', () => {
    const short = chain(4);
    expect(withFoldedText(short)).toBe(short);
  });
});
