import { compareText } from '../../base/text-order.ts';
import type { ConstantIds } from '../../store/dictionary.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { calculate } from '../../language/arithmetic.ts';
import { equalConstants, holdsComparison } from '../../language/numbers.ts';

/**
 * Constants as evaluation knows them: ids of the tenant's dictionary, and ids of its own for constants that no
 * fact and no rule names, made by arithmetic, by aggregates and by questions.
 *
 * Those of its own live and die with the set of tables that they stand in, so what an evaluation makes does not stay
 * in the tenant's dictionary. Within one set, equal texts have equal ids.
 */
const firstOwn = 0x4000_0000;

export class Constants {
  readonly dictionary: ConstantIds;
  readonly #texts: string[] = [];
  readonly #ids = new Map<string, number>();
  #characters = 0;
  /** Constants of the dictionary with lesser ids were there before any of its own. */
  readonly #firstNew: number;

  constructor(dictionary: ConstantIds) {
    this.dictionary = dictionary;
    this.#firstNew = dictionary.size;
  }

  get size(): number {
    return this.dictionary.size + this.#texts.length;
  }

  /** How many constants are its own. */
  get ownCount(): number {
    return this.#texts.length;
  }

  /** About what its own constants take: two bytes a character and an entry in a map for each. */
  get bytes(): number {
    return this.#characters * 2 + this.#texts.length * 100;
  }

  /** True where the stored row holds a constant that has an id of its own here, since it was made before. */
  clashes(relation: StoredRelation, row: number): boolean {
    if (this.#texts.length === 0) return false;
    for (let position = 0; position < relation.arity; position++) {
      const id = (relation.columns[position] as Int32Array)[row] as number;
      if (id >= this.#firstNew && this.#ids.has(this.dictionary.text(id))) return true;
    }
    return false;
  }

  /** The id of a constant that is known here or to the dictionary, else -1. */
  find(text: string): number {
    return this.#ids.get(text) ?? this.dictionary.find(text);
  }

  /** The id of a constant, one of its own where the dictionary has none. */
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

  /** The id that the dictionary has for the constant, or now gets. */
  plain(id: number): number {
    return id < firstOwn ? id : this.dictionary.intern(this.text(id));
  }

  /** The id that the dictionary has for the constant; -1 where it has none. */
  known(id: number): number {
    return id < firstOwn ? id : this.dictionary.find(this.text(id));
  }

  /**
   * The id that is used here for a constant of the dictionary: its own where it made one for the same text. An id of its
   * own is that already.
   */
  local(id: number): number {
    if (this.#texts.length === 0 || id >= firstOwn) return id;
    return this.#ids.get(this.dictionary.text(id)) ?? id;
  }

  /** The id of a constant of a rule. */
  ofRule(text: string): number {
    return this.#ids.get(text) ?? this.dictionary.intern(text);
  }

  text(id: number): string {
    return id < firstOwn ? this.dictionary.text(id) : (this.#texts[id - firstOwn] as string);
  }

  /** The order by code point of two texts. */
  order(left: number, right: number): number {
    if (left < firstOwn && right < firstOwn) return this.dictionary.compare(left, right);
    return compareText(this.text(left), this.text(right));
  }

  /** Whether `left operator right` holds. */
  compare(operator: string, left: number, right: number): boolean {
    if (left === right) return operator === '=' || operator === '<=' || operator === '>=';
    return holdsComparison(operator, this.text(left), this.text(right));
  }

  /** Whether two constants are the same number or the same text. */
  equal(left: number, right: number): boolean {
    return left === right || equalConstants(this.text(left), this.text(right));
  }

  /** The id of `left operator right`, or -1 where it has no result. */
  calculate(operator: string, left: number, right: number): number {
    const result = calculate(operator, this.text(left), this.text(right));
    return result === null ? -1 : this.idOf(result);
  }
}
