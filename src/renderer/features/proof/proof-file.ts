/** A proof as a file: its name, the scale of its picture, and the steps it contains. */
import type { Proof } from '../../../engine/contract/inference.ts';

/** Browsers' limits of a picture: pixels per side, and in total. */
const maxSide = 16_000;
const maxArea = 80_000_000;
/** For high-density screens. */
const bestScale = 2;
/** Below this scale text is unreadable. */
const minScale = 0.4;

/** Returns the scale of a picture; null if it would be too large. */
export function scaleOfPicture(width: number, height: number): number | null {
  const scale = Math.min(bestScale, maxSide / width, maxSide / height, Math.sqrt(maxArea / (width * height)));
  return scale < minScale ? null : scale;
}

/** Returns an ASCII file name: `proof-ancestor-ada-bob.svg`. */
export function fileNameOf(statement: string, extension: string): string {
  const plain = statement
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return `proof-${plain === '' ? 'steps' : plain}.${extension}`;
}

/** Returns the proof of one step: its premises, transitively, in the original order. */
export function proofOf(proof: Proof, root: number): Proof {
  if (root === proof.roots[0]) return proof;
  const premisesOf = new Map(proof.steps.map((step) => [step.id, step.premises]));
  const needed = new Set<number>();
  const pending = [root];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    pending.push(...(premisesOf.get(id) ?? []));
  }
  return { ...proof, roots: [root], steps: proof.steps.filter((step) => needed.has(step.id)) };
}
