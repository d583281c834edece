import type { Bounds, StoredRelation } from './stored-relation.ts';

/** The number of a fact, and its validity. */
export interface FactBounds {
  readonly number: number;
  readonly from: number;
  readonly until: number;
}

/** Up to this many passed instants are taken from the heap one by one. */
const maxTakenSingly = 1024;

/**
 * The instants at which a validity begins or ends, earliest first, each with its fact number: a binary heap.
 * Instants of facts that are gone stay in it and cost only a look.
 */
export class Boundaries {
  readonly #times: number[] = [];
  readonly #facts: number[] = [];
  /** The latest time at which earlier bounds were left out. */
  #after = Number.NEGATIVE_INFINITY;

  /** The earliest instant, Infinity if there is none. */
  get next(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY;
  }

  add(time: number, fact: number): void {
    let at = this.#times.length;
    this.#times.push(time);
    this.#facts.push(fact);
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if ((this.#times[parent] as number) <= time) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Adds the bounds of a fact's validity that are to come at this time. */
  note(number: number, from: number, until: number, time: number): void {
    if (time > this.#after) this.#after = time;
    if (Number.isFinite(from) && from > time) this.add(from, number);
    if (Number.isFinite(until) && until > time) this.add(until, number);
  }

  /**
   * Makes every bound of these facts after this time a boundary again, and returns the numbers of those that have one up
   * to `from`: the clock was set back from there.
   */
  turnBack(time: number, from: number, facts: Iterable<FactBounds>): number[] {
    const turned: number[] = [];
    if (time >= Math.max(this.#after, from)) return turned;
    this.#after = time;
    this.clear();
    const isWithin = (bound: number): boolean => bound > time && bound <= from;
    for (const { number, from: begin, until } of facts) {
      this.note(number, begin, until, time);
      if (isWithin(begin) || isWithin(until)) turned.push(number);
    }
    return turned;
  }

  clear(): void {
    this.#times.length = 0;
    this.#facts.length = 0;
  }

  /** Removes every instant up to and including `time`, and returns their facts, of which some may occur twice. */
  takeUntil(time: number): number[] {
    const facts: number[] = [];
    while (this.next <= time) {
      if (facts.length === maxTakenSingly) return this.#takeRest(time, facts);
      facts.push(this.takeFirst());
    }
    return facts;
  }

  /** The same for many at once: in one pass over all of them, after which the others are a heap again. */
  #takeRest(time: number, taken: number[]): number[] {
    const [times, facts] = [this.#times, this.#facts];
    let kept = 0;
    for (let at = 0; at < times.length; at++)
      if ((times[at] as number) <= time) taken.push(facts[at] as number);
      else {
        times[kept] = times[at] as number;
        facts[kept++] = facts[at] as number;
      }
    times.length = kept;
    facts.length = kept;
    for (let at = kept >>> 1; at >= 0; at--) this.#sink(at);
    return taken;
  }

  /** Removes the earliest instant, which must exist, and returns its fact. */
  takeFirst(): number {
    const fact = this.#facts[0] as number;
    this.#swap(0, this.#times.length - 1);
    this.#times.pop();
    this.#facts.pop();
    this.#sink(0);
    return fact;
  }

  #sink(from: number): void {
    const count = this.#times.length;
    for (let at = from; ; ) {
      const left = 2 * at + 1;
      if (left >= count) return;
      const right = left + 1;
      const child =
        right < count && (this.#times[right] as number) < (this.#times[left] as number) ? right : left;
      if ((this.#times[at] as number) <= (this.#times[child] as number)) return;
      this.#swap(at, child);
      at = child;
    }
  }

  #swap(left: number, right: number): void {
    const time = this.#times[left] as number;
    this.#times[left] = this.#times[right] as number;
    this.#times[right] = time;
    const fact = this.#facts[left] as number;
    this.#facts[left] = this.#facts[right] as number;
    this.#facts[right] = fact;
  }
}

/** The live facts of these relations, with their scopes and validity. */
export function* aliveIn(
  relations: Iterable<StoredRelation>,
): Generator<Bounds & { readonly number: number; readonly scope: number }> {
  for (const relation of relations)
    for (let row = 0; row < relation.count; row++) {
      if (!relation.isAlive(row)) continue;
      const scope = (relation.columns[relation.arity] as Int32Array)[row] as number;
      yield { ...relation.boundsOf(row), number: relation.number[row] as number, scope };
    }
}
