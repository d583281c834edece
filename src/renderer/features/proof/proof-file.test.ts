import { expect, test } from 'vitest';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { fileNameOf, proofOf, scaleOfPicture } from './proof-file.ts';

function step(id: number, premises: number[] = []): ProofStep {
  return { id, atom: `p(${id})`, kind: 'fact', rule: null, ruleId: null, premises, scope: null };
}

test('a file is named by its statement, in letters that every system takes', () => {
  expect(fileNameOf('cousin(alma, "a/b")', 'svg')).toBe('proof-cousin-alma-a-b.svg');
  expect(fileNameOf('größe(?x)', 'png')).toBe('proof-größe-x.png');
  expect(fileNameOf('', 'txt')).toBe('proof-steps.txt');
  expect(fileNameOf('p'.repeat(500), 'json').length).toBeLessThan(80);
});

test('a picture is enlarged as far as browsers draw it, and refused where it could not be read', () => {
  expect(scaleOfPicture(800, 600)).toBe(2);
  expect(scaleOfPicture(16_000, 100)).toBe(1);
  expect(scaleOfPicture(10_000, 10_000)).toBeCloseTo(0.894, 2);
  expect(scaleOfPicture(100_000, 100)).toBeNull();
});

test('the proof of a step has what it stands on, however deep, and the whole is left as it is', () => {
  const chain = Array.from({ length: 20_000 }, (_, id) => step(id, id === 0 ? [] : [id - 1]));
  const proof: Proof = { roots: [19_999], steps: chain };
  expect(proofOf(proof, 19_999)).toBe(proof);
  const part = proofOf({ roots: [3], steps: [step(0), step(1), step(2, [0, 0]), step(3, [1, 2])] }, 2);
  expect(part.roots).toEqual([2]);
  expect(part.steps.map(({ id }) => id)).toEqual([0, 2]);
  expect(proofOf(proof, 9_999).steps).toHaveLength(10_000);
});
