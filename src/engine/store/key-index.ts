import { finish, fold, hashSeed } from './hash-slots.ts';

/**
 * How long after its end a validity stays in the chains, in milliseconds: a clock that is set back by less finds the fact
 * again without a new index.
 */
const keptAfterEnd = 1000;
/** Rows taken in between two breaths. */
const rowsInSlice = 0x4000;

/** What the index reads of a relation. */
interface IndexedRows {
  readonly arity: number;
  readonly count: number;
  readonly columns: readonly Int32Array[];
  readonly validUntil: Float64Array | null;
  isAlive(row: number): boolean;
}

/**
 * The rows of a relation by the values of some positions and the scope: chains of what is stored, without the versions
 * that are dead or have ended.
 *
 * A value of a key that changes all the time has one fact that is stored and any number that have ended, so chains drop
 * what has ended as they are read. Rows are only appended, and the index takes in new ones before it is read. If the clock
 * is set back to when a dropped row had not ended, the index begins again.
 */
export class KeyIndex {
  readonly positions: readonly number[];
  readonly #relation: IndexedRows;
  /** For each bucket the first row of its chain plus one; 0: none. */
  #heads = new Int32Array(64);
  /** For each row the next one of its chain plus one; 0: none. */
  #next = new Int32Array(64);
  #chained = 0;
  #covered = 0;
  /** A row that had ended by this time may have been dropped. */
  #droppedThrough = Number.NEGATIVE_INFINITY;

  /** `positions`: of arguments, ascending. */
  constructor(relation: IndexedRows, positions: readonly number[]) {
    this.#relation = relation;
    this.positions = positions;
  }

  get bytes(): number {
    return this.#heads.byteLength + this.#next.byteLength;
  }

  /** Takes in rows that were appended since, to be read at this time; false: call it again, there are more. */
  takeIn(time: number): boolean {
    const { count } = this.#relation;
    if (time < this.#droppedThrough) this.#begin(this.#heads.length);
    if (this.#chained + count - this.#covered > this.#heads.length) this.#begin(2 * count);
    this.#reserve(count);
    const end = Math.min(count, this.#covered + rowsInSlice);
    for (let row = this.#covered; row < end; row++) this.#add(row, time);
    this.#covered = end;
    return end === count;
  }

  /**
   * The rows with these ids in its positions and in this scope that are stored at the time. Requires that all rows are
   * taken in for it.
   */
  rows(ids: readonly number[], scope: number, time: number): number[] {
    const found: number[] = [];
    const { validUntil } = this.#relation;
    let hash = fold(hashSeed, scope);
    for (let at = 0; at < ids.length; at++) hash = fold(hash, ids[at] as number);
    const bucket = this.#bucketOf(finish(hash));
    let before = -1;
    for (let row = (this.#heads[bucket] as number) - 1; row >= 0; ) {
      const next = (this.#next[row] as number) - 1;
      const until = validUntil?.[row] ?? Number.POSITIVE_INFINITY;
      const isAlive = this.#relation.isAlive(row);
      if (!isAlive || until <= time - keptAfterEnd) {
        if (isAlive) this.#droppedThrough = Math.max(this.#droppedThrough, until);
        if (before < 0) this.#heads[bucket] = next + 1;
        else this.#next[before] = next + 1;
        this.#chained--;
      } else {
        before = row;
        if (until > time && this.#isOf(row, ids, scope)) found.push(row);
      }
      row = next;
    }
    return found.length < 2 ? found : found.reverse();
  }

  #add(row: number, time: number): void {
    if (!this.#relation.isAlive(row)) return;
    const until = this.#relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
    if (until <= time - keptAfterEnd) {
      this.#droppedThrough = Math.max(this.#droppedThrough, until);
      return;
    }
    const bucket = this.#bucketOf(keyHash(this.#relation, this.positions, row));
    this.#next[row] = this.#heads[bucket] as number;
    this.#heads[bucket] = row + 1;
    this.#chained++;
  }

  /** Begins again with room for so many rows. */
  #begin(room: number): void {
    let buckets = 64;
    while (buckets < room) buckets *= 2;
    this.#heads = new Int32Array(buckets);
    this.#chained = 0;
    this.#covered = 0;
    this.#droppedThrough = Number.NEGATIVE_INFINITY;
  }

  #reserve(count: number): void {
    if (count <= this.#next.length) return;
    const larger = new Int32Array(Math.max(count, this.#next.length * 2));
    larger.set(this.#next);
    this.#next = larger;
  }

  #isOf(row: number, ids: readonly number[], scope: number): boolean {
    const { columns, arity } = this.#relation;
    if ((columns[arity] as Int32Array)[row] !== scope) return false;
    for (let at = 0; at < ids.length; at++)
      if ((columns[this.positions[at] as number] as Int32Array)[row] !== ids[at]) return false;
    return true;
  }

  #bucketOf(hash: number): number {
    return (hash >>> 0) & (this.#heads.length - 1);
  }
}

/** The hash of a row by these positions and its scope. */
export function keyHash(
  { columns, arity }: Pick<IndexedRows, 'columns' | 'arity'>,
  positions: readonly number[],
  row: number,
): number {
  let hash = fold(hashSeed, (columns[arity] as Int32Array)[row] as number);
  for (const position of positions) hash = fold(hash, (columns[position] as Int32Array)[row] as number);
  return finish(hash);
}
