import { compareText } from '../../base/text-order.ts';
import { type ConstantIds, Dictionary } from '../../store/dictionary.ts';
import { MemoryMeter } from '../../store/memory-meter.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { calculate } from '../../language/arithmetic.ts';
import { equalConstants, holdsComparison } from '../../language/numbers.ts';
import { Numerals } from './numerals.ts';

// Ids from here on are local: constants that neither a fact nor a rule names.
const firstOwn = 0x4000_0000;
/** Arithmetic on n digits takes about n * n / `digitsPerStep` steps. */
const digitsPerStep = 256;
/** The most that one operand counts, so that the sum stays a small integer. */
const maxWork = 0x1000_0000;
const readsOfNumeral = 4;
/** Shared: nothing is left in it. */
const numerals = new Numerals();

/**
 * The constants of one table set: ids of the tenant's dictionary, and local ids for constants that no fact
 * and no rule names, made by arithmetic, by aggregates and by questions.
 *
 * Local ids live and die with the tables that contain them, so nothing that an evaluation makes stays in the
 * tenant's dictionary. Within one table set, equal texts have equal ids.
 */
export class Constants {
  readonly dictionary: ConstantIds;
  /** What it asks before it grows. */
  readonly memory: MemoryMeter;
  /**
   * Bytes read by comparisons and arithmetic, and more for what takes longer than a byte. Whoever bounds how
   * long it works without a pause sets it to 0 at the beginning.
   */
  work = 0;
  /** The local constants; null until there is one. */
  #own: Dictionary | null = null;
  /** Dictionary ids below this existed before the first local id. */
  readonly #firstNew: number;

  constructor(dictionary: ConstantIds, memory = new MemoryMeter()) {
    this.dictionary = dictionary;
    this.memory = memory;
    this.#firstNew = dictionary.size;
  }

  get size(): number {
    return this.dictionary.size + this.ownCount;
  }

  /** Number of local constants. */
  get ownCount(): number {
    return this.#own === null ? 0 : this.#own.size;
  }

  /** Bytes of the local constants. */
  get bytes(): number {
    return this.#own === null ? 0 : this.#own.bytes;
  }

  /** True if the stored row has a constant that got a local id before it was interned. */
  clashes(relation: StoredRelation, row: number): boolean {
    if (this.#own === null) return false;
    for (let position = 0; position < relation.arity; position++) {
      const id = (relation.columns[position] as Int32Array)[row] as number;
      if (id >= this.#firstNew && this.#own.find(this.dictionary.text(id)) >= 0) return true;
    }
    return false;
  }

  /** The local or dictionary id of a constant, else -1. */
  find(text: string): number {
    const own = this.#ownId(text);
    return own >= 0 ? own : this.dictionary.find(text);
  }

  /** The local id of the text, -1 if it has none. */
  #ownId(text: string): number {
    const found = this.#own === null ? -1 : this.#own.find(text);
    return found < 0 ? -1 : firstOwn + found;
  }

  /** The id of a constant; makes a local one if the dictionary has none. */
  idOf(text: string): number {
    const known = this.find(text);
    if (known >= 0) return known;
    this.#own ??= new Dictionary(this.memory);
    return firstOwn + this.#own.intern(text);
  }

  /** The dictionary id of the constant; interns a local constant. */
  plain(id: number): number {
    return id < firstOwn ? id : this.dictionary.intern(this.text(id));
  }

  /** The dictionary id of the constant, -1 if it has none. */
  known(id: number): number {
    return id < firstOwn ? id : this.dictionary.find(this.text(id));
  }

  /**
   * The id used here for a constant of the dictionary: the local id if one was made earlier for the same
   * text. A local id is returned as it is.
   */
  local(id: number): number {
    if (this.#own === null || id >= firstOwn || id < this.#firstNew) return id;
    const own = this.#ownId(this.dictionary.text(id));
    return own >= 0 ? own : id;
  }

  /** The id of a constant of a rule, interned if it has no local id. */
  ofRule(text: string): number {
    const own = this.#ownId(text);
    return own >= 0 ? own : this.dictionary.intern(text);
  }

  text(id: number): string {
    return id < firstOwn ? this.dictionary.text(id) : (this.#own as Dictionary).text(id - firstOwn);
  }

  /** The text of a constant with which to calculate; counted as work. */
  operand(id: number): string {
    const size = this.sizeOf(id);
    // Reading and writing a number of n digits takes longer than n steps.
    this.work += size + Math.min(maxWork, Math.floor((size * size) / digitsPerStep));
    return this.text(id);
  }

  /** Bytes of the constant's text. */
  sizeOf(id: number): number {
    return id < firstOwn ? this.dictionary.sizeOf(id) : (this.#own as Dictionary).sizeOf(id - firstOwn);
  }

  /** False if the constant begins as no number does. */
  mayBeNumber(id: number): boolean {
    return id < firstOwn
      ? this.dictionary.mayBeNumber(id)
      : (this.#own as Dictionary).mayBeNumber(id - firstOwn);
  }

  /** `ConstantIds.simpleNumbers`. */
  simpleNumbers(ids: Int32Array, from: number, to: number, numbers: Float64Array): void {
    this.dictionary.simpleNumbers(ids, from, to, numbers);
    const own = this.#own;
    if (own === null) return;
    for (let at = from; at < to; at++) {
      const id = ids[at] as number;
      if (id >= firstOwn) numbers[at] = own.simpleNumber(id - firstOwn);
    }
  }

  /** Writes the ids of the texts of these numbers, as `idOf`, but for those that are not finite, for which it leaves what is there. */
  idsOfNumbers(numbers: Float64Array, ids: Int32Array): void {
    for (let from = 0; from < numbers.length; ) {
      from = numerals.take(numbers, from);
      const found = new Int32Array(numerals.count);
      this.dictionary.findEncoded(numerals, 0, numerals.count, found);
      if (this.#own !== null && this.dictionary.size > this.#firstNew) this.#makeLocal(found);
      numerals.give(found, ids);
      if (numerals.count === 0) continue;
      this.#own ??= new Dictionary(this.memory);
      this.#own.internEncoded(numerals, 0, numerals.count, found);
      numerals.give(found, ids, firstOwn);
    }
  }

  #makeLocal(ids: Int32Array): void {
    for (let at = 0; at < ids.length; at++)
      if ((ids[at] as number) >= 0) ids[at] = this.local(ids[at] as number);
  }

  /** Compares two constants by code point. */
  order(left: number, right: number): number {
    this.work += Math.min(this.sizeOf(left), this.sizeOf(right));
    if (left < firstOwn && right < firstOwn) return this.dictionary.compare(left, right);
    if (left >= firstOwn && right >= firstOwn)
      return (this.#own as Dictionary).compare(left - firstOwn, right - firstOwn);
    return compareText(this.text(left), this.text(right));
  }

  /** Whether `left operator right` is true. */
  compare(operator: string, left: number, right: number): boolean {
    if (left === right) return operator === '=' || operator === '<=' || operator === '>=';
    if (operator === '=' || operator === '!=') return this.equal(left, right) === (operator === '=');
    if (this.#mayBeNumbers(left, right))
      return holdsComparison(operator, this.#numeral(left), this.#numeral(right));
    // Two constants are never the same text.
    const isLess = this.order(left, right) < 0;
    return isLess === (operator === '<' || operator === '<=');
  }

  /** Whether two constants are the same number or the same text. */
  equal(left: number, right: number): boolean {
    if (left === right) return true;
    return this.#mayBeNumbers(left, right) && equalConstants(this.#numeral(left), this.#numeral(right));
  }

  #mayBeNumbers(left: number, right: number): boolean {
    return this.mayBeNumber(left) && this.mayBeNumber(right);
  }

  /** The text of a constant to be compared as a number, which reads it several times; counted as work. */
  #numeral(id: number): string {
    this.work += this.sizeOf(id) * readsOfNumeral;
    return this.text(id);
  }

  /** The id of `left operator right`, -1 if it has no result. */
  calculate(operator: string, left: number, right: number): number {
    const result = calculate(operator, this.operand(left), this.operand(right));
    return result === null ? -1 : this.idOf(result);
  }
}
