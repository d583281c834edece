import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import { RenderedOrder } from '../store/rendered-order.ts';
import type { StoredRelation } from '../store/stored-relation.ts';

/** Why decay evicts a stored fact: its validity has ended, or its salience is below the threshold. */
export type Fate = 'expired' | 'faded';

const minRoom = 64;
/** Rows between two looks at the clock. */
const rowsInSlice = 4096;

/**
 * Facts to evict, by index, in the order in which they were added. There may be millions, so they are in columns: objects would
 * outlive the slices in which they were made, and the collector's pauses grow with what survives.
 */
export class Evictions {
  #count = 0;
  #expired = 0;
  readonly #relations: StoredRelation[] = [];
  readonly #indexes = new Map<StoredRelation, number>();
  /** The index of the last one. */
  #last = -1;
  /** Of each fact: the index of its relation, its row, 1 if it has expired, and its salience. */
  #relationOf = new Int32Array(minRoom);
  #rows = new Int32Array(minRoom);
  #isExpired = new Uint8Array(minRoom);
  #saliences = new Float64Array(minRoom);

  get count(): number {
    return this.#count;
  }

  /** How many of them have expired. */
  get expired(): number {
    return this.#expired;
  }

  add(relation: StoredRelation, row: number, fate: Fate, salience: number): void {
    if (this.#count === this.#rows.length) this.#grow();
    // Facts of one relation usually follow one another.
    if (this.#relations[this.#last] !== relation) this.#last = this.#indexOf(relation);
    this.#relationOf[this.#count] = this.#last;
    this.#rows[this.#count] = row;
    this.#saliences[this.#count] = salience;
    if (fate === 'expired') {
      this.#isExpired[this.#count] = 1;
      this.#expired++;
    }
    this.#count++;
  }

  factAt(index: number): FactRow {
    return { relation: this.#relationAt(index), row: this.#rows[index] as number };
  }

  /** The number of the fact in the log. */
  numberAt(index: number): number {
    return this.#relationAt(index).number[this.#rows[index] as number] as number;
  }

  /** The numbers of all, in slices. */
  async numbers(pacer: Pacer): Promise<number[]> {
    const numbers: number[] = [];
    for (let index = 0; index < this.#count; index++) {
      if (index % rowsInSlice === rowsInSlice - 1) await pacer.breathe();
      numbers.push(this.numberAt(index));
    }
    return numbers;
  }

  isExpiredAt(index: number): boolean {
    return this.#isExpired[index] === 1;
  }

  /** The indexes: expired first, then by salience, by rendered atom, and by scope, unscoped first. In slices. */
  inOrder(facts: FactStore, pacer: Pacer): Promise<Int32Array> {
    const order = new RenderedOrder(facts);
    const compare = (one: number, other: number): number => {
      const expired = (this.#isExpired[other] as number) - (this.#isExpired[one] as number);
      if (expired !== 0) return expired;
      const salience = (this.#saliences[one] as number) - (this.#saliences[other] as number);
      if (salience !== 0) return salience;
      const [left, right] = [this.#relationAt(one), this.#relationAt(other)];
      return order.compare(left, this.#rows[one] as number, right, this.#rows[other] as number);
    };
    return sortedOrder(this.#count, compare, pacer, order);
  }

  #indexOf(relation: StoredRelation): number {
    const known = this.#indexes.get(relation);
    if (known !== undefined) return known;
    this.#indexes.set(relation, this.#relations.length);
    return this.#relations.push(relation) - 1;
  }

  #relationAt(index: number): StoredRelation {
    return this.#relations[this.#relationOf[index] as number] as StoredRelation;
  }

  #grow(): void {
    const room = 2 * this.#rows.length;
    const grown = <Column extends Int32Array | Uint8Array | Float64Array>(from: Column, to: Column): Column => {
      to.set(from);
      return to;
    };
    this.#relationOf = grown(this.#relationOf, new Int32Array(room));
    this.#rows = grown(this.#rows, new Int32Array(room));
    this.#isExpired = grown(this.#isExpired, new Uint8Array(room));
    this.#saliences = grown(this.#saliences, new Float64Array(room));
  }
}
