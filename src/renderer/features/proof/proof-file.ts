/** What a proof is as a file: its name, its size as a picture, and which steps belong to it. */
import type { Proof } from '../../../engine/contract/inference.ts';

/** What browsers take for a picture: pixels along a side, and in all. */
const greatestSide = 16_000;
const greatestArea = 80_000_000;
/** For screens with more than one pixel a point. */
const bestScale = 2;
/** Smaller than this, texts could not be read. */
const leastScale = 0.4;

/** How much a picture is enlarged; null where it would be too large to be one. */
export function scaleOfPicture(width: number, height: number): number | null {
  const scale = Math.min(
    bestScale,
    greatestSide / width,
    greatestSide / height,
    Math.sqrt(greatestArea / (width * height)),
  );
  return scale < leastScale ? null : scale;
}

/** A name of plain letters: `proof-ancestor-ada-bob.svg`. */
export function fileNameOf(statement: string, extension: string): string {
  const plain = statement
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return `proof-${plain === '' ? 'steps' : plain}.${extension}`;
}

/** The proof of one of its steps: with all that it stands on, in the order of the whole. */
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
