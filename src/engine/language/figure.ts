import { compareText } from '../base/text-order.ts';
import type { AggregateValue } from '../contract/aggregation.ts';
import { Extreme, maxIntegerDigits } from './arithmetic.ts';
import { ExactSum } from './exact.ts';
import { isInteger, isNumber, parseNumber } from './numbers.ts';

/**
 * A sum, mean, minimum or maximum over constants that are added one by one, for the API's aggregates.
 *
 * The values are those of aggregates in rules (`arithmetic`), whatever the order, in constant space. The
 * difference is in constants without such a value: a sum throws an error that names one, where a rule would
 * not match.
 */
export interface Figure {
  add(constant: string): void;
  /**
   * null for no constants. A number if all constants are numbers, except integers beyond +-(2^53 - 1) and
   * numbers beyond every double, which stay text. Throws the error made by `refused` if there is no such
   * value.
   */
  value(): AggregateValue;
}

/** Makes the error from a message that says what has no value, and why. */
export type Refused = (message: string) => Error;

/** A figure for the operation, empty at first. */
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
  /** The least constant by code point that cannot be added, so that the error always names the same one. */
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

/** Why a constant cannot be added. */
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

/**
 * A number as JSON has it, or its text if JSON would change it: an integer that is too large, a double that
 * overflows.
 */
function jsonOf(text: string): AggregateValue {
  const value = Number(text);
  const isMaintained = isInteger(text) ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isMaintained) return text;
  return value === 0 ? 0 : value;
}

const mostShown = 100;

/** The constant as a message names it, shortened if it is long. */
function shown(constant: string): string {
  const characters = Array.from(constant.slice(0, 2 * mostShown));
  const isWhole = constant.length <= 2 * mostShown && characters.length <= mostShown;
  return JSON.stringify(isWhole ? constant : `${characters.slice(0, mostShown).join('')}…`);
}
