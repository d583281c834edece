/**
 * Stored facts by salience, the highest first, without looking at more of a million than may be among them.
 *
 * Blocks of rows are taken in the order of their upper bounds (`SalienceBounds`) until none that is left can hold
 * anything better than what was found. Of blocks that can only hold equals, those are skipped whose first atom comes
 * too late. What is wanted grows with what is taken: each time four times as many are chosen afresh and those left out
 * that were given before, so that a use that is noted between makes a fact come neither twice nor never.
 */
import type { RelationBounds } from '../store/salience-bounds.ts';
import { compareRelationTexts, type RenderedOrder } from '../store/rendered-order.ts';
import { Saliences } from './saliences.ts';
import { type IsVisible, type ReadContext, visibleIn } from '../session/read-context.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { blockBits, type StoredRelation } from '../store/stored-relation.ts';
import { leastRows, sortedOrder } from '../datalog/tables/sorted.ts';

/** A stored fact with its salience at the reader's time. */
export interface SalientFact {
  readonly fact: FactRow;
  readonly salience: number;
}

/** So many are chosen first where the caller does not say how many he wants. */
const firstChosen = 128;
const growth = 4;

/**
 * The stored facts of the view that the reader sees, of the relations that are wanted, highest salience first; ties by
 * rendered atom, then by the name of the scope, that without scope first, both by code point. Every stored fact is
 * one, also where several scopes have the same atom. `expected`: how many the caller is likely to take; more can be
 * had. Uses that are noted while he takes them count for what has not been given yet.
 */
export async function* salientFacts(
  context: ReadContext,
  view: ScopeChoice,
  isWanted: (relation: StoredRelation) => boolean,
  expected: number = firstChosen,
): AsyncGenerator<SalientFact> {
  const given = new Set<number>();
  for (let wanted = Math.max(1, expected); ; wanted *= growth) {
    const chosen = await new Choice(context, view, wanted).of(isWanted);
    for (const each of chosen) {
      const number = each.fact.relation.number[each.fact.row] as number;
      if (given.has(number)) continue;
      given.add(number);
      yield each;
    }
    if (chosen.length < wanted) return;
  }
}

/** Blocks of rows, each by the place of its relation and its number there, with its bound: none is more salient. */
interface Blocks {
  readonly places: readonly number[];
  readonly numbers: readonly number[];
  readonly bounds: readonly number[];
}

/** A relation with the rows that the reader can see. */
interface SeenRelation {
  readonly relation: StoredRelation;
  readonly count: number;
  /** null: it has so few rows that nothing is kept of them. */
  readonly bounds: RelationBounds | null;
}

const rowsInBlock = 1 << blockBits;
/** So many more blocks than facts are wanted are looked at first. */
const moreBlocks = 16;
/** What is not wanted is dropped once there is so much of it. */
const leastToCut = 256;
/** More than rounding makes of saliences that are computed of different times. */
const slack = 1e-12;
const rowsTakenIn = 8192;

/** The most salient facts of a view, so many of them. */
class Choice {
  readonly #context: ReadContext;
  readonly #isOfAll: boolean;
  readonly #wanted: number;
  readonly #isVisible: IsVisible;
  readonly #saliences: Saliences;
  readonly #order: RenderedOrder;
  readonly #relations: SeenRelation[] = [];
  /** What is found, in no order: places of relations, rows, saliences. */
  #places = new Int32Array(256);
  #rows = new Int32Array(256);
  #found = new Float64Array(256);
  #count = 0;
  /** Where the last of the wanted ones stands: what comes after it is not wanted. -1: there are too few yet. */
  #last = -1;

  constructor(context: ReadContext, view: ScopeChoice, wanted: number) {
    const { tenant, reader, database } = context;
    this.#context = context;
    this.#isOfAll = view.kind === 'all';
    this.#wanted = wanted;
    this.#isVisible = visibleIn(context, view);
    const timeOf = (generation: number): number => database.timeOf(generation);
    this.#saliences = new Saliences(tenant.facts, tenant.uses, timeOf, reader.time);
    this.#order = tenant.uses.bounds.order;
  }

  async of(isWanted: (relation: StoredRelation) => boolean): Promise<SalientFact[]> {
    const { pacer } = this.#context;
    const blocks = await this.#blocks(isWanted);
    const { bounds } = blocks;
    const compare = (left: number, right: number): number =>
      (bounds[right] as number) - (bounds[left] as number) || left - right;
    // The best blocks say what the others have to hold to be looked at: mostly few are left to be put in order. Each
    // has a fact as salient as its bound, or had one lately.
    const best = await leastRows(bounds.length, this.#wanted + moreBlocks, compare, pacer);
    await this.#lookAtAll(blocks, best);
    await this.#cut();
    const seen = new Set(best);
    const others: number[] = [];
    for (let at = 0; at < bounds.length; at++) {
      if ((at & 0xfff) === 0xfff) await pacer.breathe();
      if (!seen.has(at) && !this.#isBelow(bounds[at] as number)) others.push(at);
    }
    const order = await sortedOrder(
      others.length,
      (left, right) => compare(others[left] as number, others[right] as number),
      pacer,
    );
    await this.#lookAtAll(
      blocks,
      Int32Array.from(order, (at) => others[at] as number),
    );
    await this.#cut(true);
    return this.#chosen();
  }

  /** Looks at the blocks in this order, the highest bound first, as long as they can hold something wanted. */
  async #lookAtAll({ places, numbers, bounds }: Blocks, order: Int32Array): Promise<void> {
    const room = this.#wanted + Math.max(leastToCut, this.#wanted >>> 1);
    for (const [index, at] of order.entries()) {
      const bound = bounds[at] as number;
      if (this.#isBelow(bound)) return;
      const [place, number] = [places[at] as number, numbers[at] as number];
      if (!this.#isLate(place, number, bound)) this.#look(place, number);
      if (this.#count >= (this.#last < 0 ? this.#wanted : room)) await this.#cut();
      if ((index & 0xf) === 0xf) await this.#context.pacer.breathe();
    }
  }

  /** True where nothing of this salience is wanted. */
  #isBelow(salience: number): boolean {
    return this.#last >= 0 && salience < (this.#found[this.#last] as number);
  }

  /** The blocks of the relations that are wanted, those relations in the order of their texts. */
  async #blocks(isWanted: (relation: StoredRelation) => boolean): Promise<Blocks> {
    const { tenant, reader, pacer } = this.#context;
    const wanted = [...tenant.facts.relations.values()].filter(isWanted);
    const byText = (left: number, right: number): number => {
      const [a, b] = [wanted[left] as StoredRelation, wanted[right] as StoredRelation];
      return compareRelationTexts(a, b) || a.arity - b.arity;
    };
    const places: number[] = [];
    const numbers: number[] = [];
    const bounds: number[] = [];
    for (const at of await sortedOrder(wanted.length, byText, pacer)) {
      const seen = await this.#taken(wanted[at] as StoredRelation);
      for (let number = 0; number * rowsInBlock < seen.count; number++) {
        if ((bounds.length & 0x3ff) === 0x3ff) await pacer.breathe();
        places.push(this.#relations.length);
        numbers.push(number);
        bounds.push(this.#boundOf(seen, number, reader.generation, reader.time));
      }
      this.#relations.push(seen);
    }
    return { places, numbers, bounds };
  }

  async #taken(relation: StoredRelation): Promise<SeenRelation> {
    const { tenant, reader, pacer } = this.#context;
    const count = relation.rowsAt(reader.generation);
    const bounds = tenant.uses.bounds.of(relation);
    const isNoted = (number: number): boolean => tenant.uses.isNoted(number);
    while (bounds?.takeIn(isNoted, count, rowsTakenIn) === false) await pacer.breathe();
    return { relation, count, bounds };
  }

  #boundOf(
    { relation, count, bounds }: SeenRelation,
    block: number,
    generation: number,
    time: number,
  ): number {
    if (bounds === null || relation.hasDiedSince(block, generation)) return 1;
    const first = relation.birth[block * rowsInBlock] as number;
    const last = relation.birth[Math.min(count, (block + 1) * rowsInBlock) - 1] as number;
    const plain = this.#saliences.ofGeneration(last);
    // Of several times the last has the greatest salience, but for rounding.
    const ofPlain = first === last ? plain : Math.min(1, plain + slack);
    return Math.max(ofPlain, bounds.boundAt(block, time));
  }

  /** True where no row of the block can come before the last of the wanted ones. */
  #isLate(place: number, block: number, bound: number): boolean {
    if (this.#last < 0 || bound > (this.#found[this.#last] as number)) return false;
    const { relation, bounds } = this.#relations[place] as SeenRelation;
    const last = this.#relations[this.#places[this.#last] as number] as SeenRelation;
    const order = compareRelationTexts(relation, last.relation);
    if (order !== 0 || bounds === null) return order > 0;
    const least = bounds.leastOf(block, (a, b) => this.#order.compareAtoms(relation, a, relation, b));
    return this.#order.compareAtoms(relation, least, last.relation, this.#rows[this.#last] as number) > 0;
  }

  /** Takes the rows of the block that can be wanted, and learns what its special rows are at. */
  #look(place: number, block: number): void {
    const { relation, count, bounds } = this.#relations[place] as SeenRelation;
    const { generation, time } = this.#context.reader;
    const start = block * rowsInBlock;
    const end = Math.min(count, start + rowsInBlock);
    const isTrue = bounds !== null && !relation.hasDiedSince(block, generation);
    const learns =
      isTrue &&
      bounds.endOf(block) <= end &&
      bounds.canLearn(block, time) &&
      (this.#isOfAll || bounds.boundAt(block, time) === 1);
    let greatest = 0;
    for (let row = start; row < end; row++) {
      const isPlain = isTrue && bounds.isPlain(row);
      if (isPlain && this.#isBelow(this.#saliences.ofGeneration(relation.birth[row] as number) + slack))
        continue;
      const isVisible = this.#isVisible(relation, row);
      if (!isVisible && (isPlain || !learns || !relation.isAlive(row))) continue;
      const salience = isPlain
        ? this.#saliences.ofPlain(relation, row)
        : isTrue
          ? this.#saliences.ofSpecial(relation, row)
          : this.#saliences.of(relation, row);
      if (!isPlain && salience > greatest) greatest = salience;
      if (isVisible && this.#isBefore(salience, relation, row)) this.#add(place, row, salience);
    }
    if (learns) bounds.learn(block, greatest, time);
  }

  #isBefore(salience: number, relation: StoredRelation, row: number): boolean {
    if (this.#last < 0) return true;
    const least = this.#found[this.#last] as number;
    if (salience !== least) return salience > least;
    const last = this.#relations[this.#places[this.#last] as number] as SeenRelation;
    return this.#order.compare(relation, row, last.relation, this.#rows[this.#last] as number) < 0;
  }

  #add(place: number, row: number, salience: number): void {
    if (this.#count === this.#rows.length) this.#resize(this.#count, this.#count * 2);
    this.#places[this.#count] = place;
    this.#rows[this.#count] = row;
    this.#found[this.#count++] = salience;
  }

  /** Keeps the wanted ones alone, in order. */
  async #cut(isEnd = false): Promise<void> {
    if (this.#count < this.#wanted && !isEnd) return;
    const order = (
      await sortedOrder(this.#count, (a, b) => this.#compare(a, b), this.#context.pacer)
    ).subarray(0, this.#wanted);
    const [places, rows, found] = [this.#places, this.#rows, this.#found];
    this.#resize(0, Math.max(256, this.#rows.length));
    this.#count = 0;
    for (const at of order) this.#add(places[at] as number, rows[at] as number, found[at] as number);
    if (this.#count === this.#wanted) this.#last = this.#count - 1;
  }

  #compare(left: number, right: number): number {
    const order = (this.#found[right] as number) - (this.#found[left] as number);
    if (order !== 0) return order;
    const a = this.#relations[this.#places[left] as number] as SeenRelation;
    const b = this.#relations[this.#places[right] as number] as SeenRelation;
    return this.#order.compare(
      a.relation,
      this.#rows[left] as number,
      b.relation,
      this.#rows[right] as number,
    );
  }

  /** Makes room, with the first ones in it. */
  #resize(kept: number, room: number): void {
    const [places, rows, found] = [this.#places, this.#rows, this.#found];
    this.#places = new Int32Array(room);
    this.#rows = new Int32Array(room);
    this.#found = new Float64Array(room);
    this.#places.set(places.subarray(0, kept));
    this.#rows.set(rows.subarray(0, kept));
    this.#found.set(found.subarray(0, kept));
  }

  #chosen(): SalientFact[] {
    return Array.from({ length: this.#count }, (_, at) => {
      const { relation } = this.#relations[this.#places[at] as number] as SeenRelation;
      return { fact: { relation, row: this.#rows[at] as number }, salience: this.#found[at] as number };
    });
  }
}
