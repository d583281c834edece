/**
 * Stored facts in descending salience without scanning all of them: top-k over blocks with upper bounds.
 *
 * Blocks of rows are visited in the order of their bounds (`SalienceBounds`) until no remaining block can contain
 * anything better. Among blocks that can only tie, those whose first atom comes too late are skipped. When the caller
 * takes more than expected, the selection is repeated with four times the size and skips what was already yielded, so
 * that uses recorded in between make a fact appear neither twice nor never.
 */
import type { RelationBounds } from '../store/salience-bounds.ts';
import { SalienceReader } from '../store/salience-reader.ts';
import { compareRelationTexts, type RenderedOrder } from '../store/rendered-order.ts';
import { type ReadContext, type IsVisible, visibleIn } from '../session/read-context.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { blockBits, type StoredRelation } from '../store/stored-relation.ts';
import { leastRows, sortedOrder } from '../datalog/tables/sorted.ts';

/** A stored fact with its salience at the reader's time. */
export interface SalientFact {
  readonly fact: FactRow;
  readonly salience: number;
}

/** Initial selection size if the caller gives none. */
const initialSelection = 128;
const growth = 4;

/**
 * The stored facts of the view that the reader sees, in the wanted relations, highest salience first; ties by rendered
 * atom, then by scope name, unscoped first, both by code point. The same atom in several scopes yields several facts.
 * `expected`: how many the caller will probably take; more are available. Uses recorded while iterating affect only
 * what has not been yielded yet.
 */
export async function* salientFacts(
  context: ReadContext,
  view: ScopeChoice,
  isWanted: (relation: StoredRelation) => boolean,
  expected: number = initialSelection,
): AsyncGenerator<SalientFact> {
  const given = new Set<number>();
  for (let wanted = Math.max(1, expected); ; wanted *= growth) {
    const chosen = await new TopFacts(context, view, wanted).of(isWanted);
    for (const each of chosen) {
      const number = each.fact.relation.number[each.fact.row] as number;
      if (given.has(number)) continue;
      given.add(number);
      yield each;
    }
    if (chosen.length < wanted) return;
  }
}

/** Blocks of rows: the index of the relation, the block number in it, and an upper bound on salience. */
interface Blocks {
  readonly relationIndexes: readonly number[];
  readonly numbers: readonly number[];
  readonly bounds: readonly number[];
}

/** A relation with the number of rows that the reader can see. */
interface SeenRelation {
  readonly relation: StoredRelation;
  readonly count: number;
  /** null: too few rows for bounds. */
  readonly bounds: RelationBounds | null;
}

const rowsInBlock = 1 << blockBits;
/** Number of blocks beyond the wanted facts in the first pass. */
const extraBlocks = 16;
/** Minimum surplus of facts before they are pruned. */
const minSurplus = 256;
/** Exceeds the rounding error between saliences computed for different times. */
const roundingSlack = 1e-12;
const rowsPerTakeIn = 8192;
/** Bytes that comparisons of atoms read between two looks at the clock. */
const workAtOnce = 0x10_0000;

/** The most salient facts of a view, a given number of them. */
class TopFacts {
  readonly #context: ReadContext;
  readonly #isOfAll: boolean;
  readonly #wanted: number;
  readonly #isVisible: IsVisible;
  readonly #saliences: SalienceReader;
  readonly #order: RenderedOrder;
  readonly #relations: SeenRelation[] = [];
  /** The facts found, unordered: relation indexes, rows, saliences. */
  #relationIndexes = new Int32Array(256);
  #rows = new Int32Array(256);
  #foundSaliences = new Float64Array(256);
  #count = 0;
  /** Index of the last wanted fact; anything after it is not wanted. -1: fewer than wanted so far. */
  #last = -1;

  constructor(context: ReadContext, view: ScopeChoice, wanted: number) {
    const { tenant, reader, database } = context;
    this.#context = context;
    this.#isOfAll = view.kind === 'all';
    this.#wanted = wanted;
    this.#isVisible = visibleIn(context, view);
    const timeOf = (generation: number): number => database.timeOf(generation);
    this.#saliences = new SalienceReader(tenant.facts, tenant.uses, timeOf, reader.time);
    this.#order = tenant.uses.bounds.order;
  }

  async of(isWanted: (relation: StoredRelation) => boolean): Promise<SalientFact[]> {
    const { pacer } = this.#context;
    const blocks = await this.#blocks(isWanted);
    const { bounds } = blocks;
    const compare = (left: number, right: number): number =>
      (bounds[right] as number) - (bounds[left] as number) || left - right;
    // The best blocks set the threshold for the others, so that few remain to be sorted. Each contains a fact as
    // salient as its bound, or recently did.
    const best = await leastRows(bounds.length, this.#wanted + extraBlocks, compare, pacer);
    await this.#scanBlocks(blocks, best);
    await this.#prune();
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
    await this.#scanBlocks(
      blocks,
      Int32Array.from(order, (at) => others[at] as number),
    );
    await this.#prune(true);
    return this.#selected();
  }

  /** Visits the blocks in this order, highest bound first, as long as they can contain a wanted fact. */
  async #scanBlocks({ relationIndexes, numbers, bounds }: Blocks, order: Int32Array): Promise<void> {
    const room = this.#wanted + Math.max(minSurplus, this.#wanted >>> 1);
    for (const [index, at] of order.entries()) {
      const bound = bounds[at] as number;
      if (this.#isBelow(bound)) return;
      const [relationIndex, number] = [relationIndexes[at] as number, numbers[at] as number];
      if (!this.#isAfterLast(relationIndex, number, bound)) this.#scanBlock(relationIndex, number);
      if (this.#count >= (this.#last < 0 ? this.#wanted : room)) await this.#prune();
      if ((index & 0xf) === 0xf || this.#order.work > workAtOnce) {
        this.#order.work = 0;
        await this.#context.pacer.breathe();
      }
    }
  }

  /** True if no fact of this salience is wanted. */
  #isBelow(salience: number): boolean {
    return this.#last >= 0 && salience < (this.#foundSaliences[this.#last] as number);
  }

  /** The blocks of the wanted relations, the relations in the order of their texts. */
  async #blocks(isWanted: (relation: StoredRelation) => boolean): Promise<Blocks> {
    const { tenant, reader, pacer } = this.#context;
    const wanted = [...tenant.facts.relations.values()].filter(isWanted);
    const byText = (left: number, right: number): number => {
      const [a, b] = [wanted[left] as StoredRelation, wanted[right] as StoredRelation];
      return compareRelationTexts(a, b) || a.arity - b.arity;
    };
    const relationIndexes: number[] = [];
    const numbers: number[] = [];
    const bounds: number[] = [];
    for (const at of await sortedOrder(wanted.length, byText, pacer)) {
      const seen = await this.#taken(wanted[at] as StoredRelation);
      for (let number = 0; number * rowsInBlock < seen.count; number++) {
        if ((bounds.length & 0x3ff) === 0x3ff) await pacer.breathe();
        relationIndexes.push(this.#relations.length);
        numbers.push(number);
        bounds.push(this.#boundOf(seen, number, reader.generation, reader.time));
      }
      this.#relations.push(seen);
    }
    return { relationIndexes, numbers, bounds };
  }

  async #taken(relation: StoredRelation): Promise<SeenRelation> {
    const { tenant, reader, pacer } = this.#context;
    const count = relation.rowsAt(reader.generation);
    const bounds = tenant.uses.bounds.of(relation);
    const isNoted = (number: number): boolean => tenant.uses.isNoted(number);
    while (bounds?.takeIn(isNoted, count, rowsPerTakeIn) === false) await pacer.breathe();
    return { relation, count, bounds };
  }

  #boundOf(
    { relation, count, bounds }: SeenRelation,
    block: number,
    generation: number,
    time: number,
  ): number {
    if (bounds === null || relation.hasDiedSince(block, generation)) return 1;
    const first = relation.bornIn(block * rowsInBlock);
    const last = relation.bornIn(Math.min(count, (block + 1) * rowsInBlock) - 1);
    const plain = this.#saliences.ofGeneration(last);
    // Of several times the latest gives the greatest salience, apart from rounding.
    const ofPlain = first === last ? plain : Math.min(1, plain + roundingSlack);
    return Math.max(ofPlain, bounds.boundAt(block, time));
  }

  /** True if no row of the block can come before the last wanted fact. */
  #isAfterLast(relationIndex: number, block: number, bound: number): boolean {
    if (this.#last < 0 || bound > (this.#foundSaliences[this.#last] as number)) return false;
    const { relation, bounds } = this.#relations[relationIndex] as SeenRelation;
    const last = this.#relations[this.#relationIndexes[this.#last] as number] as SeenRelation;
    const order = compareRelationTexts(relation, last.relation);
    if (order !== 0 || bounds === null) return order > 0;
    const least = bounds.leastOf(block, (a, b) => this.#order.compareAtoms(relation, a, relation, b));
    return this.#order.compareAtoms(relation, least, last.relation, this.#rows[this.#last] as number) > 0;
  }

  /** Adds the block's candidate rows, and updates the bound of its special rows. */
  #scanBlock(relationIndex: number, block: number): void {
    const { relation, count, bounds } = this.#relations[relationIndex] as SeenRelation;
    const { generation, time } = this.#context.reader;
    const start = block * rowsInBlock;
    const end = Math.min(count, start + rowsInBlock);
    const isExact = bounds !== null && !relation.hasDiedSince(block, generation);
    const learns =
      isExact &&
      bounds.endOf(block) <= end &&
      bounds.canLearn(block, time) &&
      (this.#isOfAll || bounds.boundAt(block, time) === 1);
    let max = 0;
    for (let row = start; row < end; row++) {
      const isPlain = isExact && bounds.isPlain(row);
      if (isPlain && this.#isBelow(this.#saliences.ofGeneration(relation.bornIn(row)) + roundingSlack))
        continue;
      const isVisible = this.#isVisible(relation, row);
      if (!isVisible && (isPlain || !learns || !relation.isAlive(row))) continue;
      const salience = isPlain
        ? this.#saliences.ofPlain(relation, row)
        : isExact
          ? this.#saliences.ofSpecial(relation, row)
          : this.#saliences.of(relation, row);
      if (!isPlain && salience > max) max = salience;
      if (isVisible && this.#isBefore(salience, relation, row)) this.#add(relationIndex, row, salience);
    }
    if (learns) bounds.learn(block, max, time);
  }

  #isBefore(salience: number, relation: StoredRelation, row: number): boolean {
    if (this.#last < 0) return true;
    const least = this.#foundSaliences[this.#last] as number;
    if (salience !== least) return salience > least;
    const last = this.#relations[this.#relationIndexes[this.#last] as number] as SeenRelation;
    return this.#order.compare(relation, row, last.relation, this.#rows[this.#last] as number) < 0;
  }

  #add(relationIndex: number, row: number, salience: number): void {
    if (this.#count === this.#rows.length) this.#resize(this.#count, this.#count * 2);
    this.#relationIndexes[this.#count] = relationIndex;
    this.#rows[this.#count] = row;
    this.#foundSaliences[this.#count++] = salience;
  }

  /** Keeps only the wanted facts, in order. */
  async #prune(isEnd = false): Promise<void> {
    if (this.#count < this.#wanted && !isEnd) return;
    const order = (
      await sortedOrder(this.#count, (a, b) => this.#compare(a, b), this.#context.pacer, this.#order)
    ).subarray(0, this.#wanted);
    const [relationIndexes, rows, found] = [this.#relationIndexes, this.#rows, this.#foundSaliences];
    this.#resize(0, Math.max(256, this.#rows.length));
    this.#count = 0;
    for (const at of order) this.#add(relationIndexes[at] as number, rows[at] as number, found[at] as number);
    if (this.#count === this.#wanted) this.#last = this.#count - 1;
  }

  #compare(left: number, right: number): number {
    const order = (this.#foundSaliences[right] as number) - (this.#foundSaliences[left] as number);
    if (order !== 0) return order;
    const a = this.#relations[this.#relationIndexes[left] as number] as SeenRelation;
    const b = this.#relations[this.#relationIndexes[right] as number] as SeenRelation;
    return this.#order.compare(
      a.relation,
      this.#rows[left] as number,
      b.relation,
      this.#rows[right] as number,
    );
  }

  /** Resizes the arrays and keeps the first entries. */
  #resize(count: number, room: number): void {
    const [relationIndexes, rows, found] = [this.#relationIndexes, this.#rows, this.#foundSaliences];
    this.#relationIndexes = new Int32Array(room);
    this.#rows = new Int32Array(room);
    this.#foundSaliences = new Float64Array(room);
    this.#relationIndexes.set(relationIndexes.subarray(0, count));
    this.#rows.set(rows.subarray(0, count));
    this.#foundSaliences.set(found.subarray(0, count));
  }

  #selected(): SalientFact[] {
    return Array.from({ length: this.#count }, (_, at) => {
      const { relation } = this.#relations[this.#relationIndexes[at] as number] as SeenRelation;
      return {
        fact: { relation, row: this.#rows[at] as number },
        salience: this.#foundSaliences[at] as number,
      };
    });
  }
}
