/**
 * Upper bounds of salience for blocks of rows, so that a search for the most salient facts can skip blocks.
 *
 * Most rows are plain: used once, without weights in their metadata; their salience follows from the time of
 * their assertion. For the others (special rows) a block records the greatest salience that they had at some
 * time: it only falls from then on, and recording a use raises it. A block of which nothing is known has
 * bound 1. Bounds belong to a relation object: they are dropped when it is compacted or cleared, and made
 * anew on demand. Dead rows are not removed: a bound may be too high, never too low. A reader whose time is
 * before that of a bound, or who still sees rows that have died since, must scan the rows.
 */
import type { Metadata } from '../contract/facts.ts';
import type { FactRow, FactStore } from './fact-store.ts';
import { blockBits, type StoredRelation } from './stored-relation.ts';
import { RenderedOrder } from './rendered-order.ts';
import { isWeighted, salienceOf, type Uses } from './salience.ts';

const rowsInBlock = 1 << blockBits;

/** Smaller relations are scanned row by row. */
const minRows = 256;

/** More than the rounding error of a salience computed at another time. */
const slack = 1e-12;

/** The bound of a block of which nothing is known: the highest salience. */
const unknown = 1;

/** The salience bounds of a tenant's relations. */
export class SalienceBounds {
  /** The order of facts that are equally salient. */
  readonly order: RenderedOrder;
  readonly #relations = new WeakMap<StoredRelation, RelationBounds>();

  constructor(facts: FactStore) {
    this.order = new RenderedOrder(facts);
  }

  /** The bounds of the relation, or null if it has too few rows for them. */
  of(relation: StoredRelation): RelationBounds | null {
    let bounds = this.#relations.get(relation);
    if (bounds === undefined && relation.count >= minRows)
      this.#relations.set(relation, (bounds = new RelationBounds(relation)));
    return bounds ?? null;
  }

  /**
   * Records that the newest version of a fact, with this metadata, has these uses, the last one at `time`.
   */
  used({ relation, row }: FactRow, uses: Uses, time: number, metadata: Metadata): void {
    this.#relations.get(relation)?.used(row, uses, time, metadata);
  }
}

/** The salience bounds of one relation, by block of rows. */
export class RelationBounds {
  readonly #relation: StoredRelation;
  /** Rows before this one have been processed. */
  #through = 0;
  /** A bit for each row, set if it is special; null if none is. */
  #special: Uint32Array | null = null;
  /** By block: an upper bound for special rows from the time in `#since` on. -1: there is no special row. */
  #bounds = new Float64Array(1).fill(-1);
  #since = new Float64Array(1);
  /** By block: 1 + the row that comes first as rendered, among the rows before that in `#leastThrough`. */
  #least = new Int32Array(1);
  #leastThrough = new Uint8Array(1);

  constructor(relation: StoredRelation) {
    this.#relation = relation;
  }

  get bytes(): number {
    const { byteLength } = this.#bounds;
    return (
      byteLength * 2 +
      this.#least.byteLength +
      this.#leastThrough.byteLength +
      (this.#special?.byteLength ?? 0)
    );
  }

  /** Processes rows below `limit`, at most `most` of them. True if all have been processed. */
  takeIn(isNoted: (number: number) => boolean, limit: number, most: number): boolean {
    const to = Math.min(limit, this.#through + most);
    if (to <= this.#through) return true;
    this.#grow(((to - 1) >>> blockBits) + 1);
    const { number, metadata } = this.#relation;
    const mayBeWeighted = metadata.size > 0;
    for (let row = this.#through; row < to; row++) {
      const isSpecial = isNoted(number[row] as number) || (mayBeWeighted && isWeightedAt(metadata, row));
      if (isSpecial) this.#mark(row);
    }
    this.#through = to;
    return to === limit;
  }

  /** True if the row has been processed and is plain. */
  isPlain(row: number): boolean {
    if (row >= this.#through) return false;
    return this.#special === null || (((this.#special[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 0;
  }

  /** An upper bound for the live special rows of the block at this time; -1 if none is special. */
  boundAt(block: number, time: number): number {
    const bound = this.#bounds[block] as number;
    return bound < 0 || time >= (this.#since[block] as number) ? bound : unknown;
  }

  /** True if scanning all special rows of the block at this time would give a better bound. */
  canLearn(block: number, time: number): boolean {
    const bound = this.#bounds[block] as number;
    return bound >= 0 && (bound === unknown || time > (this.#since[block] as number));
  }

  /**
   * Records the greatest salience of the block's special rows at this time. All processed rows must have been
   * scanned, in the turn of this call.
   */
  learn(block: number, greatest: number, time: number): void {
    this.#bounds[block] = Math.min(unknown, greatest + slack);
    this.#since[block] = time;
  }

  /** The end of the processed rows of the block. */
  endOf(block: number): number {
    return Math.min(this.#through, (block + 1) * rowsInBlock);
  }

  used(row: number, uses: Uses, time: number, metadata: Metadata): void {
    if (row >= this.#through) return;
    const block = row >>> blockBits;
    const known = this.#bounds[block] as number;
    if (this.isPlain(row)) this.#mark(row);
    if (known === unknown) return;
    // With all its uses in the past, a fact is most salient now. Before the last use the previous bound
    // applied.
    const isLast = uses.latest.at(-1) === time;
    const since = known < 0 ? time : Math.max(time, this.#since[block] as number);
    const salience = isLast ? salienceOf(uses, metadata, since) + slack : unknown;
    this.#bounds[block] = Math.min(unknown, Math.max(known, salience));
    this.#since[block] = since;
  }

  /**
   * The row of the block that comes first in this order, including dead and not yet visible ones: no row of
   * the block comes before it.
   */
  leastOf(block: number, compare: (left: number, right: number) => number): number {
    let least = (this.#least[block] as number) - 1;
    const start = block * rowsInBlock;
    const end = Math.min(this.#relation.count, start + rowsInBlock);
    let row = start + (this.#leastThrough[block] as number);
    if (least < 0) least = row++;
    for (; row < end; row++) if (compare(row, least) < 0) least = row;
    this.#least[block] = least + 1;
    this.#leastThrough[block] = end - start;
    return least;
  }

  #mark(row: number): void {
    const word = row >>> 5;
    if (this.#special === null || word >= this.#special.length) {
      const grown = new Uint32Array(this.#bounds.length * (rowsInBlock / 32));
      if (this.#special !== null) grown.set(this.#special);
      this.#special = grown;
    }
    this.#special[word] = (this.#special[word] as number) | (1 << (row & 31));
    this.#bounds[row >>> blockBits] = unknown;
  }

  #grow(blocks: number): void {
    if (blocks <= this.#bounds.length) return;
    const room = Math.max(blocks, this.#bounds.length * 2);
    const bounds = new Float64Array(room).fill(-1);
    bounds.set(this.#bounds);
    this.#bounds = bounds;
    this.#since = enlarged(this.#since, new Float64Array(room));
    this.#least = enlarged(this.#least, new Int32Array(room));
    this.#leastThrough = enlarged(this.#leastThrough, new Uint8Array(room));
  }
}

/** True if the metadata of the row weight its salience. */
export function isWeightedAt(metadata: StoredRelation['metadata'], row: number): boolean {
  const known = metadata.get(row);
  return known !== undefined && isWeighted(known);
}

function enlarged<Column extends Float64Array | Int32Array | Uint8Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
