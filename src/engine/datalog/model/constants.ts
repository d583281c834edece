import { compareText } from '../../base/text-order.ts';
import type { ConstantIds } from '../../store/dictionary.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { calculate } from '../../language/arithmetic.ts';
import { equalConstants, holdsComparison } from '../../language/numbers.ts';

// Ids from here on are local: constants that neither a fact nor a rule names.
const firstOwn = 0x4000_0000;

/**
 * The constants of one table set: ids of the tenant's dictionary, and local ids for constants that no fact
 * and no rule names, made by arithmetic, by aggregates and by questions.
 *
 * Local ids live and die with the tables that contain them, so nothing that an evaluation makes stays in the
 * tenant's dictionary. Within one table set, equal texts have equal ids.
 */
export class Constants {
  readonly dictionary: ConstantIds;
  readonly #texts: string[] = [];
  readonly #ids = new Map<string, number>();
  #characters = 0;
  /** Dictionary ids below this existed before the first local id. */
  readonly #firstNew: number;

  constructor(dictionary: ConstantIds) {
    this.dictionary = dictionary;
    this.#firstNew = dictionary.size;
  }

  get size(): number {
    return this.dictionary.size + this.#texts.length;
  }

  /** Number of local constants. */
  get ownCount(): number {
    return this.#texts.length;
  }

  /** Approximate bytes of the local constants: two a character, and a map entry for each. */
  get bytes(): number {
    return this.#characters * 2 + this.#texts.length * 100;
  }

  /** True if the stored row has a constant that got a local id before it was interned. */
  clashes(relation: StoredRelation, row: number): boolean {
    if (this.#texts.length === 0) return false;
    for (let position = 0; position < relation.arity; position++) {
      const id = (relation.columns[position] as Int32Array)[row] as number;
      if (id >= this.#firstNew && this.#ids.has(this.dictionary.text(id))) return true;
    }
    return false;
  }

  /** The local or dictionary id of a constant, else -1. */
  find(text: string): number {
    return this.#ids.get(text) ?? this.dictionary.find(text);
  }

  /** The id of a constant; makes a local one if the dictionary has none. */
  idOf(text: string): number {
    const own = this.#ids.get(text);
    if (own !== undefined) return own;
    const known = this.dictionary.find(text);
    if (known >= 0) return known;
    const id = firstOwn + this.#texts.length;
    this.#texts.push(text);
    this.#ids.set(text, id);
    this.#characters += text.length;
    return id;
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
    if (this.#texts.length === 0 || id >= firstOwn) return id;
    return this.#ids.get(this.dictionary.text(id)) ?? id;
  }

  /** The id of a constant of a rule, interned if it has no local id. */
  ofRule(text: string): number {
    return this.#ids.get(text) ?? this.dictionary.intern(text);
  }

  text(id: number): string {
    return id < firstOwn ? this.dictionary.text(id) : (this.#texts[id - firstOwn] as string);
  }

  /** Compares two constants by code point. */
  order(left: number, right: number): number {
    if (left < firstOwn && right < firstOwn) return this.dictionary.compare(left, right);
    return compareText(this.text(left), this.text(right));
  }

  /** Whether `left operator right` is true. */
  compare(operator: string, left: number, right: number): boolean {
    if (left === right) return operator === '=' || operator === '<=' || operator === '>=';
    return holdsComparison(operator, this.text(left), this.text(right));
  }

  /** Whether two constants are the same number or the same text. */
  equal(left: number, right: number): boolean {
    return left === right || equalConstants(this.text(left), this.text(right));
  }

  /** The id of `left operator right`, -1 if it has no result. */
  calculate(operator: string, left: number, right: number): number {
    const result = calculate(operator, this.text(left), this.text(right));
    return result === null ? -1 : this.idOf(result);
  }
}
