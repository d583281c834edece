/**
 * The instants at which a validity begins or ends, earliest first, each with the number of its fact: a binary heap.
 * An instant whose fact has gone since stays in; who takes it out loses nothing but a look.
 */
export class Boundaries {
  readonly #times: number[] = [];
  readonly #facts: number[] = [];

  /** The earliest instant, Infinity where there is none. */
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

  /** Takes out every instant up to and with `time`, and returns the facts concerned. */
  takeUntil(time: number): Set<number> {
    const facts = new Set<number>();
    while (this.next <= time) facts.add(this.takeFirst());
    return facts;
  }

  /** Takes out the earliest instant, and returns the fact concerned. There has to be one. */
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
