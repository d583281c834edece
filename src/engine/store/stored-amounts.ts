import type { Slices } from '../base/slices.ts';
import type { Metadata } from '../contract/facts.ts';
import { renderConstant } from '../language/print.ts';
import { type ConstantIds, Dictionary } from './dictionary.ts';
import type { FactRow } from './fact-matching.ts';
import type { StoredRelation } from './stored-relation.ts';
import { Boundaries } from './validity-boundaries.ts';

/** The store whose facts are counted. */
interface CountedFacts {
  readonly relations: ReadonlyMap<string, StoredRelation>;
  readonly dictionary: ConstantIds;
  versionOf(number: number): FactRow;
  amounts: StoredAmounts | null;
}

/**
 * How many facts a tenant has stored, and their bytes: what quotas limit.
 *
 * Derived from the store: counted in slices when first asked for (`measured`), and kept up to date from then on, by the
 * store. A tenant without a quota is never counted. A fact counts while it is stored: alive, its validity not ended
 * (`settle`). Its bytes are those of its rendered atom and of its metadata as JSON, in UTF-8.
 */
export class StoredAmounts {
  facts = 0;
  bytes = 0;
  readonly #store: CountedFacts;
  readonly #ends = new Boundaries();
  #settledThrough: number;
  /** Rows before these were counted: the relations before this one wholly. */
  #relations = 0;
  #rows = 0;
  /** Resolves when everything is counted. */
  #counting: Promise<void> = Promise.resolve();

  private constructor(store: CountedFacts, time: number) {
    this.#store = store;
    this.#settledThrough = time;
  }

  /** The amounts of the store at this time; counts them, in slices, if nobody has asked before. */
  static async measured(
    store: CountedFacts,
    time: number,
    slices: Pick<Slices, 'breathe'>,
  ): Promise<StoredAmounts> {
    let amounts = store.amounts;
    if (amounts === null) {
      store.amounts = amounts = new StoredAmounts(store, time);
      amounts.#counting = amounts.#count(slices);
    }
    await amounts.#counting;
    amounts.settle(time);
    return amounts;
  }

  /** True once everything is counted. */
  get isComplete(): boolean {
    return this.#relations === Number.POSITIVE_INFINITY;
  }

  /** Counts no more the facts whose validity has ended up to this time. */
  settle(time: number): void {
    if (time <= this.#settledThrough) return;
    // An end can occur twice if a fact's validity was changed and changed back.
    const settled = new Set<number>();
    while (this.#ends.next <= time) {
      const { next } = this.#ends;
      const number = this.#ends.takeFirst();
      const { relation, row } = this.#store.versionOf(number);
      if (row < 0 || !relation.isAlive(row) || relation.validUntil?.[row] !== next) continue;
      if (!settled.has(number)) this.#change(relation, row, -1);
      settled.add(number);
    }
    this.#settledThrough = time;
  }

  /** Called when a version was appended. */
  added(relation: StoredRelation, row: number): void {
    if (!this.#isCounted(relation, row)) return;
    this.#change(relation, row, 1);
    const until = relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
    if (until !== Number.POSITIVE_INFINITY) this.#ends.add(until, relation.number[row] as number);
  }

  /** Called when a version has died. */
  removed(relation: StoredRelation, row: number): void {
    if (this.#isCounted(relation, row)) this.#change(relation, row, -1);
  }

  #isCounted({ storeIndex, validUntil }: StoredRelation, row: number): boolean {
    if (storeIndex > this.#relations || (storeIndex === this.#relations && row >= this.#rows)) return false;
    return (validUntil?.[row] ?? Number.POSITIVE_INFINITY) > this.#settledThrough;
  }

  #change(relation: StoredRelation, row: number, sign: 1 | -1): void {
    this.facts += sign;
    this.bytes += sign * bytesOfRow(this.#store, { relation, row });
  }

  async #count(slices: Pick<Slices, 'breathe'>): Promise<void> {
    const { relations } = this.#store;
    // A Map yields the relations that are added meanwhile, too.
    for (const [key, relation] of relations) {
      for (; this.#rows < relation.count; ) {
        const row = this.#rows++;
        if (relation.isAlive(row)) this.added(relation, row);
        if (row % rowsInSlice !== rowsInSlice - 1) continue;
        await slices.breathe();
        // Compaction renumbers rows.
        if (relations.get(key) !== relation) return this.#recount(slices);
      }
      this.#relations++;
      this.#rows = 0;
    }
    this.#relations = Number.POSITIVE_INFINITY;
  }

  #recount(slices: Pick<Slices, 'breathe'>): Promise<void> {
    this.facts = this.bytes = this.#relations = this.#rows = 0;
    return this.#count(slices);
  }
}

const rowsInSlice = 1024;

/** The bytes of a stored version: its rendered atom and its metadata. */
export function bytesOfRow(
  { dictionary }: Pick<CountedFacts, 'dictionary'>,
  { relation, row }: FactRow,
): number {
  const { predicate, negated, arity, columns, metadata } = relation;
  let bytes = frameBytes(predicate, negated, arity) + bytesOfMetadata(metadata.get(row) ?? null);
  for (let position = 0; position < arity; position++) {
    const id = (columns[position] as Int32Array)[row] as number;
    const isPlain = dictionary instanceof Dictionary && !dictionary.hasMarked(id, marked);
    const size = isPlain ? dictionary.sizeOf(id) : 0;
    bytes += size > 0 ? size : utf8Length(renderConstant(dictionary.text(id)));
  }
  return bytes;
}

/** The bytes of a rendered atom that need not be stored. */
export function bytesOfFact(fact: {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}): number {
  const { predicate, args, truthVal } = fact;
  let bytes = frameBytes(predicate, !truthVal, args.length);
  for (const arg of args) bytes += utf8Length(renderConstant(arg));
  return bytes;
}

/** The bytes of metadata as JSON; none: 0. */
export function bytesOfMetadata(metadata: Metadata | null): number {
  if (metadata === null || Object.keys(metadata).length === 0) return 0;
  return utf8Length(JSON.stringify(metadata));
}

/** Everything of a rendered atom but its arguments: `-predicate(, )`. */
function frameBytes(predicate: string, negated: boolean, arity: number): number {
  return utf8Length(predicate) + (negated ? 1 : 0) + 2 + 2 * Math.max(0, arity - 1);
}

/** Bytes that may belong to a character for which a constant is quoted: see `renderConstant`. */
const marked = new Uint8Array(256);
marked.fill(1, 0, 0x21);
for (const character of ',()"\\\u007f') marked[character.charCodeAt(0)] = 1;
for (const lead of [0xc2, 0xe1, 0xe2, 0xe3, 0xef]) marked[lead] = 1;

function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // A surrogate is half of a character of four bytes.
    length += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return length;
}
