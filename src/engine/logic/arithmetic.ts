/**
 * Arithmetic and aggregates on constants, from text to text.
 *
 * Integers are exact at any size, everything else is IEEE double written in its shortest form. What has no
 * finite result, or is asked of text, is null: the literal does not match. Nothing here depends on the order in
 * which values come.
 */
import { compareText } from '../base/text-order.ts';
import { EngineError } from '../base/errors.ts';
import type { AggregateName } from '../contract/language.ts';
import { ExactSum, nearestDouble } from './exact.ts';
import { compareConstants, isInteger, isNumber, parseNumber } from './numbers.ts';

/** Integers with more digits are not computed with: one operation could hold up the whole service. */
export const maxIntegerDigits = 100_000;

/** A number's shortest text, or null where it is not finite. */
function numberText(value: number | bigint): string | null {
  if (typeof value === 'bigint') return value.toString();
  if (!Number.isFinite(value)) return null;
  return value === 0 ? '0' : String(value);
}

function refuseTooLong(): never {
  throw new EngineError(
    'InferenceLimitExceeded',
    `arithmetic met an integer of more than ${maxIntegerDigits} digits: bound the rule that makes it grow`,
    { limit: 'memory' },
  );
}

function operand(text: string): number | bigint | null {
  if (text.length > maxIntegerDigits && isInteger(text)) refuseTooLong();
  return parseNumber(text);
}

function withinDigits(value: bigint): bigint {
  // A hexadecimal digit is 1.2 decimal ones: near enough, and cheap.
  if (value > largest || value < -largest) refuseTooLong();
  return value;
}

const largest = 1n << BigInt(Math.floor(maxIntegerDigits * Math.log2(10)));

function integerResult(operator: string, left: bigint, right: bigint): number | bigint | null {
  switch (operator) {
    case '+':
      return withinDigits(left + right);
    case '-':
      return withinDigits(left - right);
    case '*':
      return withinDigits(left * right);
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

/** `left operator right` for safe integers, or null where doubles do not give it exactly. */
function quickResult(operator: string, left: number, right: number): number | null {
  const result = doubleResult(operator, left, right);
  return operator === '/' || (result !== null && Number.isSafeInteger(result)) ? result : null;
}

/**
 * The result of `left operator right` (operator one of `+ - * / mod`), or null where there is none: an operand
 * is text, the divisor is 0, the result is not finite. A 422 InferenceLimitExceeded past `maxIntegerDigits`.
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
  const result = quick ?? integerResult(operator, BigInt(a), BigInt(b));
  return result === null ? null : numberText(result);
}

/** The exact sum of numbers, or null where one is text or not finite. */
function exactSum(values: readonly string[]): ExactSum | null {
  const sum = new ExactSum();
  for (const text of values) {
    const value = operand(text);
    if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return null;
    sum.add(value, isInteger(text));
  }
  return sum;
}

/** The least value, or the greatest: numeric where all are numbers, else by code point, ties to the least text. */
function extreme(values: readonly string[], sign: 1 | -1): string | null {
  const compare = values.every(isNumber) ? compareConstants : compareText;
  let best: string | null = null;
  for (const value of values) {
    if (best === null) best = value;
    else {
      const order = compare(value, best) * sign;
      if (order < 0 || (order === 0 && compareText(value, best) < 0)) best = value;
    }
  }
  return best;
}

/**
 * The value of an aggregate over the first variables of its distinct tuples (one value a tuple, so values may
 * repeat), or null where it does not match.
 */
export function aggregate(name: AggregateName, values: readonly string[]): string | null {
  switch (name) {
    case 'count':
      return String(values.length);
    case 'min':
      return extreme(values, 1);
    case 'max':
      return extreme(values, -1);
    case 'sum': {
      const sum = exactSum(values)?.sum() ?? null;
      return sum === null ? null : numberText(sum);
    }
    case 'avg': {
      const mean = values.length === 0 ? null : (exactSum(values)?.mean() ?? null);
      return mean === null ? null : numberText(mean);
    }
  }
}
