import type { Dictionary } from '../facts/dictionary.ts';
import { holdsComparison } from '../logic/numbers.ts';

/**
 * Constants as evaluation knows them: ids of the tenant's dictionary, and negative ids for constants of a question
 * that no fact and no rule names. Those equal no stored value, so a demand for them is never made.
 */
export class Constants {
  readonly dictionary: Dictionary;
  readonly #strange: string[] = [];

  constructor(dictionary: Dictionary) {
    this.dictionary = dictionary;
  }

  /** The id of a constant of a question. */
  ofQuestion(text: string): number {
    const id = this.dictionary.find(text);
    if (id >= 0) return id;
    const known = this.#strange.indexOf(text);
    if (known >= 0) return -2 - known;
    this.#strange.push(text);
    return -1 - this.#strange.length;
  }

  /** The id of a constant of a rule. */
  ofRule(text: string): number {
    return this.dictionary.intern(text);
  }

  text(id: number): string {
    return id >= 0 ? this.dictionary.text(id) : (this.#strange[-2 - id] as string);
  }

  /** Whether `left operator right` holds. */
  compare(operator: string, left: number, right: number): boolean {
    if (left === right) return operator === '=' || operator === '<=' || operator === '>=';
    return holdsComparison(operator, this.text(left), this.text(right));
  }
}
