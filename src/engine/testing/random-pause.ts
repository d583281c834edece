import type { Prng } from './prng.ts';

/** Pauses between slices for an engine under test: a random half of them lets all other work run first. */
export function randomPause(prng: Prng): () => Promise<void> {
  return () => (prng.chance(0.5) ? Promise.resolve() : new Promise((resolve) => void setImmediate(resolve)));
}
