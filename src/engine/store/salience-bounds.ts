/**
 * Upper bounds of salience for blocks of rows, so that whoever looks for the most salient facts can skip the others.
 *
 * Most rows are plain: used once, without weights in their metadata; their salience follows from the time of their
 * assertion. Of the others (special rows) a block keeps the greatest salience that they had at some time: it only
 * falls from then on, and a use that is noted raises it. A block of which nothing is known says so (bound 1). What is
 * kept hangs on a relation as it lies in memory: it goes with it when it is compacted or cleared, and is made anew
 * when somebody asks. Rows that die are not taken out: a bound may be higher than need be, never lower. A reader whose
 * time is before that of a bound, or who still sees rows that have died since, has to look himself.
 */
import type { Metadata } from '../contract/facts.ts';
import type { FactRow, FactStore } from './fact-store.ts';
import { blockBits, type StoredRelation } from './stored-relation.ts';
import { RenderedOrder } from './rendered-order.ts';
import { isWeighted, salienceOf, type Uses } from './salience.ts';

const rowsInBlock = 1 << blockBits;

/** Relations of fewer rows are looked through row by row. */
const leastRows = 256;

/** More than rounding makes of a salience that is computed at another time. */
const slack = 1e-12;

/** Nothing is known: the highest salience that there is. */
const unknown = 1;

export class SalienceBounds {
  /** The order of facts that are equally salient. */
  readonly order: RenderedOrder;
  readonly #relations = new WeakMap<StoredRelation, RelationBounds>();

  constructor(facts: FactStore) {
    this.order = new RenderedOrder(facts);
  }

  /** Those of the relation, or null where it has too few rows for them. */
  of(relation: StoredRelation): RelationBounds | null {
    let bounds = this.#relations.get(relation);
    if (bounds === undefined && relation.count >= leastRows)
      this.#relations.set(relation, (bounds = new RelationBounds(relation)));
    return bounds ?? null;
  }

  /** Notes that the newest version of a fact, with this metadata, has these uses, the last one to come at `time`. */
  used({ relation, row }: FactRow, uses: Uses, time: number, metadata: Metadata): void {
    this.#relations.get(relation)?.used(row, uses, time, metadata);
  }
}

export class RelationBounds {
  readonly #relation: StoredRelation;
  /** Rows from the first to before this one have been looked at. */
  #through = 0;
  /** A bit for each row: set where it is special; null: none is. */
  #special: Uint32Array | null = null;
  /** By block: no special row is more salient from the time in `#since` on. -1: there is no special row. */
  #bounds = new Float64Array(1).fill(-1);
  #since = new Float64Array(1);
  /** By block: 1 + the row that comes first as rendered, of the rows before that in `#leastThrough`. */
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

  /** Looks at rows up to `limit`, at most so many of them. True where all of them have been. */
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

  /** True where the row has been looked at and is plain. */
  isPlain(row: number): boolean {
    if (row >= this.#through) return false;
    return this.#special === null || (((this.#special[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 0;
  }

  /** No special row of the block that has not died is more salient at this time; -1 where none is special. */
  boundAt(block: number, time: number): number {
    const bound = this.#bounds[block] as number;
    return bound < 0 || time >= (this.#since[block] as number) ? bound : unknown;
  }

  /** True where looking at all special rows of the block at this time tells more than is known. */
  canLearn(block: number, time: number): boolean {
    const bound = this.#bounds[block] as number;
    return bound >= 0 && (bound === unknown || time > (this.#since[block] as number));
  }

  /**
   * Notes the greatest salience that special rows of the block have at this time. All that had been taken in must have
   * been looked at, in the turn in which this is called.
   */
  learn(block: number, greatest: number, time: number): void {
    this.#bounds[block] = Math.min(unknown, greatest + slack);
    this.#since[block] = time;
  }

  /** The end of the rows of the block that have been taken in. */
  endOf(block: number): number {
    return Math.min(this.#through, (block + 1) * rowsInBlock);
  }

  used(row: number, uses: Uses, time: number, metadata: Metadata): void {
    if (row >= this.#through) return;
    const block = row >>> blockBits;
    const known = this.#bounds[block] as number;
    if (this.isPlain(row)) this.#mark(row);
    if (known === unknown) return;
    // With all its uses behind it a fact is most salient at once. Before them it had what was known till now.
    const isLast = uses.latest.at(-1) === time;
    const since = known < 0 ? time : Math.max(time, this.#since[block] as number);
    const salience = isLast ? salienceOf(uses, metadata, since) + slack : unknown;
    this.#bounds[block] = Math.min(unknown, Math.max(known, salience));
    this.#since[block] = since;
  }

  /**
   * The row of the block that comes first in this order, dead ones and those that nobody sees yet taken into account:
   * no row of the block comes before it.
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

/** True where the metadata of the row weigh its salience. */
export function isWeightedAt(metadata: StoredRelation['metadata'], row: number): boolean {
  const known = metadata.get(row);
  return known !== undefined && isWeighted(known);
}

function enlarged<Column extends Float64Array | Int32Array | Uint8Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
