import { compareText } from '../base/text-order.ts';
import type { AggregateValue } from '../contract/aggregation.ts';
import { Extreme, maxIntegerDigits } from './arithmetic.ts';
import { ExactSum } from './exact.ts';
import { isInteger, isNumber, parseNumber } from './numbers.ts';

/**
 * Figures over constants that come one by one: a sum, a mean, the least, the greatest.
 *
 * They are those of the aggregates in rules (`arithmetic`), whatever the order in which constants come, and are held
 * in constant space. They differ in what they say of constants that have no figure: a sum refuses those by name,
 * where a rule would not match.
 */
export interface Figure {
  add(constant: string): void;
  /**
   * null of nothing. A number where all constants are numbers, but for an integer beyond +-(2^53 - 1) and a number
   * beyond every double, which stay text. Throws what `refused` makes where there is no such figure.
   */
  value(): AggregateValue;
}

/** Makes the error for what has no figure, from a message that says what and why. */
export type Refused = (message: string) => Error;

export function newFigure(operation: 'SUM' | 'AVG' | 'MIN' | 'MAX', refused: Refused): Figure {
  switch (operation) {
    case 'SUM':
      return new Sum(operation, refused);
    case 'AVG':
      return new Sum(operation, refused);
    case 'MIN':
      return new Outermost(new Extreme(1));
    case 'MAX':
      return new Outermost(new Extreme(-1));
  }
}

class Sum implements Figure {
  readonly #operation: 'SUM' | 'AVG';
  readonly #refused: Refused;
  readonly #sum = new ExactSum();
  #count = 0;
  /** The least constant by code point that cannot be added, so that the same one is named each time. */
  #alien: string | null = null;

  constructor(operation: 'SUM' | 'AVG', refused: Refused) {
    this.#operation = operation;
    this.#refused = refused;
  }

  add(constant: string): void {
    this.#count++;
    if (isNumber(constant) && constant.length <= maxIntegerDigits) {
      const value = parseNumber(constant);
      if (typeof value === 'bigint' || Number.isFinite(value)) {
        this.#sum.add(value as bigint | number, isInteger(constant));
        return;
      }
    }
    if (this.#alien === null || compareText(constant, this.#alien) < 0) this.#alien = constant;
  }

  value(): AggregateValue {
    if (this.#alien !== null)
      throw this.#refused(
        `${this.#operation} takes numbers, and ${shown(this.#alien)} is ${why(this.#alien)}`,
      );
    if (this.#operation === 'SUM') return this.#json(this.#sum.sum());
    return this.#count === 0 ? null : this.#json(this.#sum.mean());
  }

  #json(value: number | bigint): AggregateValue {
    if (typeof value === 'bigint') return jsonOf(value.toString());
    if (Number.isFinite(value)) return value;
    throw this.#refused(`the ${this.#operation} is beyond the greatest number there is, ${Number.MAX_VALUE}`);
  }
}

/** What keeps a constant from being added. */
function why(constant: string): string {
  if (!isNumber(constant)) return 'no number';
  return constant.length > maxIntegerDigits
    ? `longer than the ${maxIntegerDigits} characters that are computed with`
    : `beyond the greatest number there is, ${Number.MAX_VALUE}`;
}

class Outermost implements Figure {
  readonly #extreme: Extreme;

  constructor(extreme: Extreme) {
    this.#extreme = extreme;
  }

  add(constant: string): void {
    this.#extreme.add(constant);
  }

  value(): AggregateValue {
    const text = this.#extreme.value();
    return text !== null && this.#extreme.isNumeric ? jsonOf(text) : text;
  }
}

/** A number as JSON has it, or its text where that would change it: an integer too large, a double that overflows. */
function jsonOf(text: string): AggregateValue {
  const value = Number(text);
  const isMaintained = isInteger(text) ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isMaintained) return text;
  return value === 0 ? 0 : value;
}

const mostShown = 100;

/** The constant as a message names it, cut where it is long. */
function shown(constant: string): string {
  const characters = Array.from(constant.slice(0, 2 * mostShown));
  const isWhole = constant.length <= 2 * mostShown && characters.length <= mostShown;
  return JSON.stringify(isWhole ? constant : `${characters.slice(0, mostShown).join('')}…`);
}
