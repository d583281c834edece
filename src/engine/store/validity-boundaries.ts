/**
 * The instants at which a validity begins or ends, earliest first, each with its fact number: a binary heap.
 * Instants of facts that are gone stay in it and cost only a look.
 */
export class Boundaries {
  readonly #times: number[] = [];
  readonly #facts: number[] = [];

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

  clear(): void {
    this.#times.length = 0;
    this.#facts.length = 0;
  }

  /** Removes every instant up to and including `time`, and returns their facts. */
  takeUntil(time: number): Set<number> {
    const facts = new Set<number>();
    while (this.next <= time) facts.add(this.takeFirst());
    return facts;
  }

  /** Removes the earliest instant, which must exist, and returns its fact. */
  takeFirst(): number {
    const fact = this.#facts[0] as number;
    this.#swap(0, this.#times.length - 1);
    this.#times.pop();
    this.#facts.pop();
    this.#sink();
    return fact;
  }

  #sink(): void {
    const count = this.#times.length;
    for (let at = 0; ; ) {
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
