import { describe, expect, it } from 'vitest';
import { EngineError } from '../../engine/index.ts';
import { fitAnswer, requireFits } from './tool-content.ts';
import type { Answered, SlimStep } from '../../engine/contract/tool-contents.ts';

/** `count` results, each by a rule from a fact of its own and a shared one. */
function largeAnswer(count: number): Answered {
  const steps: SlimStep[] = [{ id: 0, atom: 'shared', kind: 'fact' }];
  const roots: number[] = [];
  const results: string[] = [];
  for (let index = 0; index < count; index++) {
    const id = steps.length;
    steps.push({ id, atom: `base(${index})`, kind: 'fact' });
    steps.push({ id: id + 1, atom: `p(${index})`, kind: 'rule', rule: 'r', premises: [0, id] });
    roots.push(id + 1);
    results.push(`p(${index})`);
  }
  const bindings = results.map((_, index) => ({ x: String(index) }));
  return { results, bindings, count, truncated: false, generation: 1, proof: { roots, steps } };
}

describe('an answer within the size limit', () => {
  it('is unchanged', async () => {
    const answer = largeAnswer(10);
    expect(await fitAnswer(answer)).toBe(answer);
  });
});

describe('an answer over the size limit', async () => {
  const limit = 20_000;
  const answer = largeAnswer(1000);
  const page = await fitAnswer(answer, limit);

  it('becomes a page of as many results as fit and says that there are more', () => {
    expect(JSON.stringify(page).length).toBeLessThanOrEqual(limit);
    expect(page.truncated).toBe(true);
    expect(page.count).toBeGreaterThan(10);
    expect(page.results).toEqual(answer.results.slice(0, page.count));
    expect(page.bindings).toEqual(answer.bindings?.slice(0, page.count));
  });

  it('contains the whole proof of each result, shared steps once', () => {
    const { roots = [], steps = [] } = page.proof ?? {};
    expect(roots).toHaveLength(page.count);
    expect(steps).toHaveLength(2 * page.count + 1);
    const ids = new Set(steps.map(({ id }) => id));
    for (const { premises = [] } of steps) for (const premise of premises) expect(ids).toContain(premise);
    const atoms = new Map(steps.map(({ id, atom }) => [id, atom]));
    expect(roots.map((id) => atoms.get(id))).toEqual(page.results);
  });

  it('keeps the premises of its alternatives, wherever those steps are', async () => {
    const one = largeAnswer(3);
    const [, , first] = one.proof?.steps ?? [];
    if (first !== undefined) first.alternatives = [{ rule: 'r', premises: [3] }];
    const cut = await fitAnswer(one, JSON.stringify(one).length - 1);
    expect(cut.count).toBe(1);
    expect(cut.proof?.steps.map(({ id }) => id)).toEqual([0, 1, 2, 3]);
  });

  it('omits a proof that does not fit by itself', async () => {
    const alone = await fitAnswer(largeAnswer(1), 150);
    expect(alone.results).toEqual(['p(0)']);
    expect(alone.proof).toBeUndefined();
  });
});

describe('other content over the size limit', () => {
  it('is refused with advice on what to do', async () => {
    expect(await requireFits('predicates', { a: 1 }, false)).toBe(7);
    await expect(requireFits('predicates', { a: 'x'.repeat(100) }, false, 50)).rejects.toThrow(EngineError);
    await expect(requireFits('cleanup', { a: 'x'.repeat(100) }, true, 50)).rejects.toThrow(
      /^the write was made/,
    );
  });
});
