import { present } from '../../base/assert.ts';
import { type Derived, Support } from './derived.ts';

/**
 * Why every row is there, kept so that a change costs in proportion to what it affects.
 *
 * A row has one justification: the rows and stored facts that a rule joined when the row came, or when it was revived
 * or lowered. It is set only from what is alive at that moment, so no row justifies itself, however long the way round.
 * Kept is the way back: each premise has the chain of what it is a premise of. A row that gets another justification
 * leaves its old places in those chains; they are known by being older than the row's `since`, and let go when they may
 * be the greater part (`tidy`).
 *
 * Stored facts stand here under their number, which outlives versions and compaction. Demand is no premise: it only
 * grows. What a row owes to an absence or an aggregate is in no chain: those rows wait in a relation of their own
 * (`BodyCompiler`), and its `Watcher`s name the rows that a change concerns.
 */

/** So many places are kept, whether or not anything still stands on them. */
const fewPlaces = 10_000;
const placesBetweenBreaths = 0x1_0000;
/** Lets others run where it is time to; rejects where a limit is met. */
type Breathe = () => Promise<void>;

export class Justifications {
  readonly supports: Support[] = [];
  count = 0;
  /**
   * Places that may be no part of a justification any more: taken by upkeep, which comes again and again for the same
   * rows, or for rows that were dropped.
   */
  garbage = 0;
  #places = new Places();
  /** By the number of a stored fact: 1 + the newest place where it is a premise. */
  #facts = new Int32Array(0);

  get bytes(): number {
    let bytes = this.#places.bytes + this.#facts.byteLength;
    for (const support of this.supports) bytes += support.bytes;
    return bytes;
  }

  /** From now on the relation's rows are justified; `lost` is told of those that a change of facts takes away. */
  keep(derived: Derived, lost: ((row: number) => void) | null): void {
    derived.support = new Support(derived, this.supports.length, lost);
    this.supports.push(derived.support);
  }

  /** Begins the justification of a row; what it had before no longer counts. `add` follows for every premise. */
  begin(support: Support, row: number): void {
    if (row >= support.since.length) support.since = grown(support.since, row);
    support.since[row] = this.count;
  }

  /** Adds a row as a premise of the row in hand. */
  add(premise: Support, premiseRow: number, target: Support, row: number): void {
    if (premiseRow >= premise.heads.length) premise.heads = grown(premise.heads, premiseRow);
    premise.heads[premiseRow] = this.#place(target, row, premise.heads[premiseRow] as number);
  }

  /** Adds a stored fact as a premise of the row in hand. */
  addFact(number: number, target: Support, row: number): void {
    if (number >= this.#facts.length) this.#facts = grown(this.#facts, number);
    this.#facts[number] = this.#place(target, row, this.#facts[number] as number);
  }

  /** Visits the rows alive that the row is a premise of. */
  dependents(support: Support, row: number, visit: (target: Support, row: number) => void): void {
    this.#walk(support.heads[row] ?? 0, visit);
  }

  /** Visits the rows alive that the stored fact is a premise of. */
  dependentsOfFact(number: number, visit: (target: Support, row: number) => void): void {
    this.#walk(this.#facts[number] ?? 0, visit);
  }

  #walk(first: number, visit: (target: Support, row: number) => void): void {
    const places = this.#places;
    for (let next = first; next !== 0; ) {
      const place = next - 1;
      const row = places.row(place);
      next = places.older(place);
      const target = this.#standing(place);
      if (target !== null) visit(target, row);
    }
  }

  /** True where `tidy` is worth its while: in all it costs in proportion to the places that were taken. */
  get needsCompaction(): boolean {
    return this.garbage > Math.max(fewPlaces, this.count / 2, this.#facts.length / 8);
  }

  /**
   * Lets go of the places on which no row alive stands. The set must be at rest, and nobody at it but the caller; where
   * this ends early, by a limit, the set is not to be used again.
   */
  async compact(breathe: Breathe): Promise<void> {
    const { moved, kept } = await this.#movedPlaces(breathe);
    const places = new Places();
    for (let place = 0; place < kept; place++) {
      places.put(place, 0, 0, 0);
      if (place % placesBetweenBreaths === 0) await breathe();
    }
    await this.#moveChains(this.#facts, moved, places, breathe);
    for (const support of this.supports) await this.#moveChains(support.heads, moved, places, breathe);
    for (const support of this.supports) await this.#moveRows(support, moved, breathe);
    this.#places = places;
    this.count = kept;
    this.garbage = 0;
  }

  /** By place: 1 + the place that it becomes, 0 for those to be let go. */
  async #movedPlaces(breathe: Breathe): Promise<{ readonly moved: Int32Array; readonly kept: number }> {
    const moved = new Int32Array(this.count);
    let kept = 0;
    for (const support of this.supports) support.places = 0;
    for (let place = 0; place < moved.length; place++) {
      if (place % placesBetweenBreaths === 0) await breathe();
      const target = this.#standing(place);
      if (target === null) continue;
      target.places++;
      moved[place] = ++kept;
    }
    return { moved, kept };
  }

  /** Writes the chains that begin at these heads, each without the places to be let go. */
  async #moveChains(heads: Int32Array, moved: Int32Array, places: Places, breathe: Breathe): Promise<void> {
    let walked = 0;
    for (let premise = 0; premise < heads.length; premise++) {
      let newer = -1;
      let next = heads[premise] as number;
      heads[premise] = 0;
      if (++walked % placesBetweenBreaths === 0) await breathe();
      while (next !== 0) {
        if (++walked % placesBetweenBreaths === 0) await breathe();
        const from = next - 1;
        const to = moved[from] as number;
        next = this.#places.older(from);
        if (to === 0) continue;
        if (newer < 0) heads[premise] = to;
        else places.setOlder(newer, to);
        newer = to - 1;
        places.put(newer, this.#places.relation(from), this.#places.row(from), 0);
      }
    }
  }

  /** A justification begins at the place that its first one became. */
  async #moveRows({ since, derived }: Support, moved: Int32Array, breathe: Breathe): Promise<void> {
    const count = Math.min(since.length, derived.rows.count);
    for (let row = 0; row < count; row++) {
      if (row % placesBetweenBreaths === 0) await breathe();
      since[row] = Math.max(0, (moved[since[row] as number] ?? 0) - 1);
    }
  }

  /** Whose row rests on the place; null where none that is alive does. */
  #standing(place: number): Support | null {
    const target = present(this.supports[this.#places.relation(place)], 'a place has its relation');
    const row = this.#places.row(place);
    const { rows } = target.derived;
    return row < rows.count && place >= (target.since[row] as number) && !rows.isDead(row) ? target : null;
  }

  /** Takes the next place. Returns 1 + its number. */
  #place(target: Support, row: number, older: number): number {
    this.#places.put(this.count, target.number, row, older);
    target.places++;
    return ++this.count;
  }
}

const blockBits = 14;
const placesInBlock = 1 << blockBits;

/**
 * Three numbers a place: the relation and the row that it is of, and 1 + the older place of the same premise. They lie in
 * blocks, so that what grows to hundreds of megabytes is never copied.
 */
class Places {
  readonly #blocks: Int32Array[] = [];
  bytes = 0;

  relation(place: number): number {
    return this.#blockOf(place)[(place & (placesInBlock - 1)) * 3] as number;
  }

  row(place: number): number {
    return this.#blockOf(place)[(place & (placesInBlock - 1)) * 3 + 1] as number;
  }

  older(place: number): number {
    return this.#blockOf(place)[(place & (placesInBlock - 1)) * 3 + 2] as number;
  }

  setOlder(place: number, older: number): void {
    this.#blockOf(place)[(place & (placesInBlock - 1)) * 3 + 2] = older;
  }

  /** Writes a place, one that is there or the next. */
  put(place: number, relation: number, row: number, older: number): void {
    const at = (place & (placesInBlock - 1)) * 3;
    let block = this.#blocks[place >>> blockBits];
    if (block === undefined || at >= block.length) block = this.#grow(place >>> blockBits, at);
    block[at] = relation;
    block[at + 1] = row;
    block[at + 2] = older;
  }

  #blockOf(place: number): Int32Array {
    return this.#blocks[place >>> blockBits] as Int32Array;
  }

  /** Only the first block begins small: many sets keep few justifications. */
  #grow(number: number, at: number): Int32Array {
    const old = this.#blocks[number] ?? new Int32Array(0);
    const places = number > 0 ? placesInBlock : Math.min(placesInBlock, Math.max(16, (at / 3) * 2));
    const block = new Int32Array(places * 3);
    block.set(old);
    this.#blocks[number] = block;
    this.bytes += block.byteLength - old.byteLength;
    return block;
  }
}

/** A larger copy that has a place for `index`. */
function grown(array: Int32Array, index: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(16, array.length * 2, index + 1));
  larger.set(array);
  return larger;
}
