/**
 * Facts whose validity had ended when they were asserted again: what explanations still tell of them.
 *
 * An ended fact lies in its relation until it is asserted anew; that version then dies, and compaction lets go of it.
 * The end is kept here, the latest one for each fact, for a day after it and not much longer. Changed by `apply` alone,
 * with the time of the record, so that every replica remembers the same.
 */
export interface EndedFact {
  /** The ids of the arguments, and the number of the scope. */
  readonly identity: Int32Array;
  readonly until: number;
  /** The generation that asserted the fact anew: readers of earlier ones see the version itself. */
  readonly replacedIn: number;
}

/** What was remembered at one moment, in the order of its relations. */
export interface PinnedEnds {
  readonly entries: { readonly relation: string; readonly fact: EndedFact }[];
  /** So many will be swept. */
  readonly sweepAt: number;
}

/** How long an expired fact is told of, in milliseconds. */
export const endRememberedFor = 86_400_000;

/** A tenant remembers no more; the earliest ends go first. */
const mostRemembered = 100_000;
const fewestBetweenSweeps = 1024;

export class EndedFacts {
  readonly #byRelation = new Map<string, Map<string, EndedFact>>();
  #count = 0;
  #sweepAt = fewestBetweenSweeps;

  /** About what it takes: an entry, its key and its identity. */
  get bytes(): number {
    return this.#count * 250;
  }

  remember(relation: string, ended: EndedFact, time: number): void {
    if (ended.until <= time - endRememberedFor) return;
    this.#put(relation, ended);
    if (this.#count >= this.#sweepAt) this.#sweep(time);
  }

  /** What is remembered of a relation, perhaps for longer than a day. */
  of(relation: string): Iterable<EndedFact> {
    return this.#byRelation.get(relation)?.values() ?? [];
  }

  /** What is remembered of one fact, perhaps for longer than a day. */
  find(relation: string, identity: Int32Array): EndedFact | null {
    return this.#byRelation.get(relation)?.get(identity.join(',')) ?? null;
  }

  /** True where one of those that are wanted is remembered. */
  has(isWanted: (ended: EndedFact) => boolean): boolean {
    for (const facts of this.#byRelation.values())
      for (const ended of facts.values()) if (isWanted(ended)) return true;
    return false;
  }

  /** Forgets those that are wanted. */
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

  /** All that is remembered, as it is now, and when it will next be swept. */
  pin(): PinnedEnds {
    const entries: PinnedEnds['entries'] = [];
    for (const [relation, facts] of this.#byRelation)
      for (const fact of facts.values()) entries.push({ relation, fact });
    return { entries, sweepAt: this.#sweepAt };
  }

  /** Remembers what was pinned, where nothing is remembered yet. */
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

  /** Lets go of what ended a day ago, and of half where that leaves too much. */
  #sweep(time: number): void {
    this.#forgetUntil(time - endRememberedFor);
    if (this.#count > mostRemembered) {
      const ends = [...this.#byRelation.values()].flatMap((facts) =>
        Array.from(facts.values(), ({ until }) => until),
      );
      this.#forgetUntil(Float64Array.from(ends).sort()[ends.length >>> 1] as number);
    }
    this.#sweepAt = Math.max(fewestBetweenSweeps, Math.min(this.#count * 2, mostRemembered + 1));
  }

  #forgetUntil(time: number): void {
    this.forget(({ until }) => until <= time);
  }
}
