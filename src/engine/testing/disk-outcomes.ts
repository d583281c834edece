/** Ways to choose the outcome of each step that was not safe when the power was cut; see `CrashBackend`. */
import type { Prng } from './prng.ts';

/** Returns these choices one after the other, then 0. */
export function inTurn(choices: readonly number[]): () => number {
  let at = 0;
  return () => choices[at++] ?? 0;
}

/**
 * All combinations of one choice per position below its bound; beyond the limit, extremes and random ones.
 */
export function* choicesOf(
  bounds: readonly number[],
  limit: number,
  prng: Prng,
): Generator<readonly number[], void, undefined> {
  const ways = bounds.reduce((product, bound) => product * bound, 1);
  if (ways <= limit) {
    for (let way = 0; way < ways; way++) yield wayOf(bounds, way);
    return;
  }
  let left = limit;
  for (const extreme of extremesOf(bounds)) {
    if (left-- === 0) return;
    yield extreme;
  }
  for (; left > 0; left--) yield bounds.map((bound) => prng.below(bound));
}

function wayOf(bounds: readonly number[], way: number): number[] {
  let rest = way;
  return bounds.map((bound) => {
    const choice = rest % bound;
    rest = Math.floor(rest / bound);
    return choice;
  });
}

/** Nothing and everything; then each step alone, and each alone missing. */
function* extremesOf(bounds: readonly number[]): Generator<number[], void, undefined> {
  yield bounds.map(() => 0);
  yield bounds.map(() => 1);
  for (const alone of bounds.keys()) {
    yield bounds.map((_, at) => (at === alone ? 1 : 0));
    yield bounds.map((_, at) => (at === alone ? 0 : 1));
  }
}
