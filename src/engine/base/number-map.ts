/** Numbers of one part: 4096. */
const partBits = 12;

/**
 * A map by small whole numbers, such as numbers of rows or facts, in parts that grow by themselves. A JavaScript Map of
 * millions of entries is copied as a whole, in one turn, each time it outgrows its table.
 */
export class NumberMap<Value> {
  readonly #parts: (Map<number, Value> | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(number: number): Value | undefined {
    return this.#parts[number >>> partBits]?.get(number);
  }

  has(number: number): boolean {
    return this.#parts[number >>> partBits]?.has(number) === true;
  }

  set(number: number, value: Value): void {
    const at = number >>> partBits;
    let part = this.#parts[at];
    if (part === undefined) {
      // Without holes, so that the list stays an array.
      while (this.#parts.length <= at) this.#parts.push(undefined);
      this.#parts[at] = part = new Map();
    }
    const before = part.size;
    part.set(number, value);
    this.#size += part.size - before;
  }

  clear(): void {
    this.#parts.length = 0;
    this.#size = 0;
  }

  /** The numbers, those of a part in the order in which they came. */
  *keys(): Generator<number, void, undefined> {
    for (const part of this.#parts) if (part !== undefined) yield* part.keys();
  }

  /** Numbers and values, in the order of `keys`. */
  *entries(): Generator<[number, Value], void, undefined> {
    for (const part of this.#parts) if (part !== undefined) yield* part.entries();
  }
}
