import type { ConclusionCount } from './derived-counts.ts';

/**
 * How many conclusions relations have, counted once and remembered until something changes that they rest on.
 *
 * A count is begun, and noted at its end: unless it was forgotten in between, since what it counted is no more.
 */
export class CountCache {
  readonly #entries = new Map<string, ConclusionCount | 'begun' | 'too much'>();

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** By the key of the relation those that are known. */
  *[Symbol.iterator](): Generator<readonly [string, ConclusionCount]> {
    for (const [relation, entry] of this.#entries) if (typeof entry === 'object') yield [relation, entry];
  }

  /** True where it is counted, or was found to be more than can be. */
  isSettled(relation: string): boolean {
    const entry = this.#entries.get(relation);
    return entry !== undefined && entry !== 'begun';
  }

  begin(relation: string): void {
    this.#entries.set(relation, 'begun');
  }

  /** What the count that was begun came to. */
  end(relation: string, came: ConclusionCount | 'too much'): void {
    if (this.#entries.get(relation) === 'begun') this.#entries.set(relation, came);
  }

  /** To be called in the turn in which what these relations rest on changed. */
  forget(relations: Iterable<string>): void {
    for (const relation of relations) this.#entries.delete(relation);
  }
}
