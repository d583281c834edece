import { EngineError } from '../base/errors.ts';
import { dependsOnStored, ValidityCheck } from '../commit/prepare-facts.ts';
import { eachRowWith } from '../read/facts-with.ts';
import type { ReadContext } from '../session/read-context.ts';
import { type FactIdentity, FactStore, type FactToStore } from '../store/fact-store.ts';

/** The stored fact as the reader sees it, with validity and metadata; null: not stored. */
export function storedIn(
  facts: FactStore,
  fact: FactToStore,
  generation: number,
  time: number,
): FactToStore | null {
  const { predicate, args, truthVal, scope } = fact;
  const newest = facts.find(predicate, args, truthVal, scope);
  const stored = newest === null ? null : facts.heldAt(newest, generation, time);
  if (stored === null) return null;
  const { from, until, metadata } = facts.versionAt(stored);
  return {
    predicate,
    args,
    truthVal,
    scope,
    ...(Number.isFinite(from) ? { validFrom: from } : {}),
    ...(Number.isFinite(until) ? { validUntil: until } : {}),
    ...(metadata === null ? {} : { metadata }),
  };
}

/** The changes of a dry run so far, in a store of their own. */
export class SupposedFacts {
  readonly #store = new FactStore(0);
  /** Even generations have what was stored, odd ones what the dry run changed. */
  #generation = 0;

  /** `stored` is the fact as it is really stored. */
  store(
    fact: FactToStore,
    stored: FactToStore | null,
    ifGeneration: number | null,
    time: number,
  ): 'asserted' | 'updated' | 'unchanged' {
    const { predicate, args, truthVal, scope } = fact;
    const known = this.#store.find(predicate, args, truthVal, scope);
    if (known === null) {
      if (stored !== null) this.#store.store(stored, this.#next(0), time);
    } else if (ifGeneration !== null && known.relation.bornIn(known.row) % 2 === 1)
      throw new EngineError('Conflict', 'an earlier line changes this fact: repeat it without ifGeneration');
    if (dependsOnStored(fact)) new ValidityCheck(this.#store, time).check(fact, '');
    return this.#store.store(fact, this.#next(1), time).status;
  }

  /** A fact with the constant; null: there is none. */
  async anyWith(
    constant: string,
    { reader, pacer }: Pick<ReadContext, 'reader' | 'pacer'>,
  ): Promise<FactIdentity | null> {
    const id = this.#store.dictionary.find(constant);
    let found: FactIdentity | null = null;
    if (id >= 0)
      await eachRowWith(this.#store, new Set([id]), pacer, (relation, row) => {
        if (found === null && this.#store.isStored({ relation, row }, reader.time))
          found = this.#store.identityOf({ relation, row });
      });
    return found;
  }

  /** The next generation with this remainder modulo 2. */
  #next(remainder: number): number {
    this.#generation += this.#generation % 2 === remainder ? 2 : 1;
    return this.#generation;
  }
}
