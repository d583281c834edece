import type { ChainIndex } from '../../store/chain-index.ts';

/**
 * The first rows of a relation in groups: those with one value for a column after one another.
 *
 * What a join keeps for that value (`MarkedRows`) is then made once for each. The groups are the chains of an index, each
 * begun at its newest row; a bit for each row says whether it was met in its chain. Rows that the index takes in meanwhile
 * are newer, so no chain that is begun here meets them.
 */
export class GroupedRows {
  readonly #index: ChainIndex;
  readonly #met: Uint32Array;
  /** Rows from here on were met, or begin the group in hand. */
  #first: number;

  /** The first `count` rows. */
  constructor(index: ChainIndex, count: number) {
    this.#index = index;
    this.#met = new Uint32Array((count + 31) >>> 5);
    this.#first = count;
  }

  /** 1 + the row to begin with, 0 where there is none. */
  begin(): number {
    const met = this.#met;
    let row = this.#first - 1;
    while (row >= 0 && ((met[row >>> 5] as number) & (1 << (row & 31))) !== 0) row--;
    this.#first = Math.max(row, 0);
    return row + 1;
  }

  /** 1 + the row after this one, 0 at the end. */
  after(row: number): number {
    const next = this.#index.next[row] as number;
    if (next === 0) return this.begin();
    const met = next - 1;
    this.#met[met >>> 5] = (this.#met[met >>> 5] as number) | (1 << (met & 31));
    return next;
  }
}
