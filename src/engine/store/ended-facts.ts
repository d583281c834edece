/** The end of a fact's validity, remembered after the fact was asserted again. */
export interface EndedFact {
  /** The ids of the arguments, and the number of the scope. */
  readonly identity: Int32Array;
  readonly until: number;
  /** The generation that asserted the fact again; readers of earlier ones see the version itself. */
  readonly replacedIn: number;
}

/** The entries at one moment, in the order of their relations. */
export interface PinnedEnds {
  readonly entries: { readonly relation: string; readonly fact: EndedFact }[];
  /** Number of entries at which the next sweep is due. */
  readonly sweepAt: number;
}

/** How long an ended validity is reported, in milliseconds. */
export const endRememberedFor = 86_400_000;

/** Limit per tenant; the earliest ends are dropped first. */
const maxRemembered = 100_000;
const minBetweenSweeps = 1024;

/**
 * Facts whose validity had ended when they were asserted again, so that explanations can still report it.
 *
 * An ended fact stays in its relation until it is asserted again; that version then dies, and compaction
 * drops it. Its end is kept here, the latest one for each fact, for a day and not much longer. Only `apply`
 * changes this, with the time of the record, so that every replica remembers the same.
 */
export class EndedFacts {
  readonly #byRelation = new Map<string, Map<string, EndedFact>>();
  #count = 0;
  #sweepAt = minBetweenSweeps;

  /** Approximate bytes: an entry, its key and its identity. */
  get bytes(): number {
    return this.#count * 250;
  }

  remember(relation: string, ended: EndedFact, time: number): void {
    if (ended.until <= time - endRememberedFor) return;
    this.#put(relation, ended);
    if (this.#count >= this.#sweepAt) this.#sweep(time);
  }

  /** The entries of a relation, perhaps older than a day. */
  of(relation: string): Iterable<EndedFact> {
    return this.#byRelation.get(relation)?.values() ?? [];
  }

  /** The entry of one fact, perhaps older than a day. */
  find(relation: string, identity: Int32Array): EndedFact | null {
    return this.#byRelation.get(relation)?.get(identity.join(',')) ?? null;
  }

  /** True if any entry is wanted. */
  has(isWanted: (ended: EndedFact) => boolean): boolean {
    for (const facts of this.#byRelation.values())
      for (const ended of facts.values()) if (isWanted(ended)) return true;
    return false;
  }

  /** Removes the wanted entries. */
  forget(isWanted: (ended: EndedFact) => boolean): void {
    for (const [relation, facts] of this.#byRelation) {
      for (const [key, ended] of facts) {
        if (!isWanted(ended)) continue;
        facts.delete(key);
        this.#count--;
      }
      if (facts.size === 0) this.#byRelation.delete(relation);
    }
  }

  /** All current entries, and when the next sweep is due. */
  pin(): PinnedEnds {
    const entries: PinnedEnds['entries'] = [];
    for (const [relation, facts] of this.#byRelation)
      for (const fact of facts.values()) entries.push({ relation, fact });
    return { entries, sweepAt: this.#sweepAt };
  }

  /** Restores pinned entries into an empty store. */
  restore({ entries, sweepAt }: PinnedEnds): void {
    for (const { relation, fact } of entries) this.#put(relation, fact);
    this.#sweepAt = sweepAt;
  }

  #put(relation: string, ended: EndedFact): void {
    let facts = this.#byRelation.get(relation);
    if (facts === undefined) this.#byRelation.set(relation, (facts = new Map()));
    const key = ended.identity.join(',');
    if (!facts.has(key)) this.#count++;
    facts.set(key, ended);
  }

  /** Drops what ended more than a day ago, and half of the rest if that is still too much. */
  #sweep(time: number): void {
    this.#forgetUntil(time - endRememberedFor);
    if (this.#count > maxRemembered) {
      const ends = [...this.#byRelation.values()].flatMap((facts) =>
        Array.from(facts.values(), ({ until }) => until),
      );
      this.#forgetUntil(Float64Array.from(ends).sort()[ends.length >>> 1] as number);
    }
    this.#sweepAt = Math.max(minBetweenSweeps, Math.min(this.#count * 2, maxRemembered + 1));
  }

  #forgetUntil(time: number): void {
    this.forget(({ until }) => until <= time);
  }
}
