/**
 * Arithmetic and aggregates on constants, from text to text.
 *
 * Integers are exact up to the length of a constant, everything else is an IEEE double in its shortest form. Without a
 * finite result that fits a constant, or for text, the result is null: the literal does not match. No result depends on the order of the
 * values.
 */
import { compareText } from '../base/text-order.ts';
import { EngineError } from '../base/errors.ts';
import { type AggregateName, maxConstantBytes } from '../contract/language.ts';
import { ExactSum, nearestDouble } from './exact.ts';
import { compareConstants, hasFraction, isInteger, isNumber, parseNumber } from './numbers.ts';

/** Longer integers, which an old folder may hold, are refused: one operation could hold up the whole service. */
export const maxIntegerDigits = 100_000;

/** A number's shortest text, or null if it is not finite or too long for a constant. */
export function numberText(value: number | bigint): string | null {
  if (typeof value === 'bigint') {
    const text = value < beyond && value > -beyond ? value.toString() : null;
    return text !== null && text.length <= maxConstantBytes ? text : null;
  }
  if (!Number.isFinite(value)) return null;
  return value === 0 ? '0' : String(value);
}

function refuseTooLong(): never {
  throw new EngineError(
    'InferenceLimitExceeded',
    `arithmetic met a stored integer of more than ${maxIntegerDigits} digits: retract it, or leave it out of the rule`,
    { limit: 'memory' },
  );
}

/** `parseNumber`. Throws 422 InferenceLimitExceeded for an integer past `maxIntegerDigits`. */
export function operand(text: string): number | bigint | null {
  if (text.length > maxIntegerDigits && isInteger(text)) refuseTooLong();
  return parseNumber(text);
}

/** A power of two past every integer that a constant can hold. */
const beyond = 1n << BigInt(Math.ceil(maxConstantBytes * Math.log2(10)));

/** Whether the product of two integers is longer than any constant, decided by their lengths alone. */
function isProductTooLong(left: string, right: string): boolean {
  const sign = left.startsWith('-') ? 1 : 0;
  return left.length + right.length - sign - (right.startsWith('-') ? 1 : 0) - 1 > maxConstantBytes;
}

function integerResult(operator: string, left: bigint, right: bigint): number | bigint | null {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      if (right === 0n) return null;
      return left % right === 0n ? left / right : nearestDouble(left, right);
    default: {
      if (right === 0n) return null;
      const remainder = left % right;
      return remainder !== 0n && remainder < 0n !== right < 0n ? remainder + right : remainder;
    }
  }
}

function doubleResult(operator: string, left: number, right: number): number | null {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? null : left / right;
    default: {
      if (right === 0) return null;
      const remainder = left % right;
      return remainder !== 0 && remainder < 0 !== right < 0 ? remainder + right : remainder;
    }
  }
}

/** `left operator right` for safe integers, or null if doubles do not give it exactly. */
function quickResult(operator: string, left: number, right: number): number | null {
  const result = doubleResult(operator, left, right);
  return operator === '/' || (result !== null && Number.isSafeInteger(result)) ? result : null;
}

/**
 * The result of `left operator right` (operator one of `+ - * / mod`), or null if there is none: an operand
 * is text, the divisor is 0, or the result is not finite or too long for a constant. Throws 422
 * InferenceLimitExceeded for an operand past `maxIntegerDigits`.
 */
export function calculate(operator: string, left: string, right: string): string | null {
  const a = operand(left);
  const b = operand(right);
  if (a === null || b === null) return null;
  if (!isInteger(left) || !isInteger(right)) {
    const result = doubleResult(operator, Number(a), Number(b));
    return result === null ? null : numberText(result);
  }
  const quick = typeof a === 'number' && typeof b === 'number' ? quickResult(operator, a, b) : null;
  if (quick === null && operator === '*' && a !== 0 && b !== 0 && isProductTooLong(left, right)) return null;
  const result = quick ?? integerResult(operator, BigInt(a), BigInt(b));
  return result === null ? null : numberText(result);
}

/** An aggregate over values that are added one by one, in any order, in constant space. */
export interface RunningAggregate {
  add(value: string): void;
  /** The value so far, or null if the aggregate does not match. */
  value(): string | null;
}

/**
 * The aggregate over the first variables of its distinct tuples (one value a tuple, so values may repeat).
 * Its value is null for sum and avg if a value is text or not finite or the result too long for a constant, and for min, max and avg of no values.
 */
export function runningAggregate(name: AggregateName): RunningAggregate {
  switch (name) {
    case 'count':
      return new Count();
    case 'min':
      return new Extreme(1);
    case 'max':
      return new Extreme(-1);
    case 'sum':
      return new Sum(false);
    case 'avg':
      return new Sum(true);
  }
}

class Count implements RunningAggregate {
  #count = 0;

  add(): void {
    this.#count++;
  }

  value(): string {
    return String(this.#count);
  }
}

class Sum implements RunningAggregate {
  readonly #isMean: boolean;
  readonly #sum = new ExactSum();
  #count = 0;
  #isSummable = true;

  constructor(isMean: boolean) {
    this.#isMean = isMean;
  }

  add(text: string): void {
    this.#count++;
    if (!this.#isSummable) return;
    const value = operand(text);
    if (value === null || (typeof value === 'number' && !Number.isFinite(value))) this.#isSummable = false;
    else this.#sum.add(value, typeof value === 'bigint' || !hasFraction(text));
  }

  value(): string | null {
    if (!this.#isSummable || (this.#isMean && this.#count === 0)) return null;
    const value = this.#isMean ? this.#sum.mean() : this.#sum.sum();
    return value === null ? null : numberText(value);
  }
}

/**
 * The least value for sign 1, the greatest for -1: numerically if all are numbers, else by code point; ties
 * go to the least text.
 */
export class Extreme implements RunningAggregate {
  readonly #sign: 1 | -1;
  #areNumbers = true;
  #number: string | null = null;
  #text: string | null = null;

  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  add(value: string): void {
    if (this.#text === null || compareText(value, this.#text) * this.#sign < 0) this.#text = value;
    if (!this.#areNumbers) return;
    if (!isNumber(value)) this.#areNumbers = false;
    else if (this.#number === null) this.#number = value;
    else {
      const order = compareConstants(value, this.#number) * this.#sign;
      if (order < 0 || (order === 0 && compareText(value, this.#number) < 0)) this.#number = value;
    }
  }

  /** True while all values are numbers. */
  get isNumeric(): boolean {
    return this.#areNumbers;
  }

  value(): string | null {
    return this.#areNumbers ? this.#number : this.#text;
  }
}

/** The value of an aggregate over these values, or null if it does not match; see `runningAggregate`. */
export function aggregate(name: AggregateName, values: readonly string[]): string | null {
  const running = runningAggregate(name);
  for (const value of values) running.add(value);
  return running.value();
}
