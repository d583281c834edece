/**
 * Constants as numbers: which texts are numbers, and the order that comparisons use.
 *
 * A number is what JSON's number grammar accepts; `007`, `+5` and `.5` are text. Without fraction and
 * exponent it is an integer, exact at any size; else it is an IEEE double. Atoms match by text and do not use
 * this.
 */
import { compareText } from '../base/text-order.ts';

const numberPattern = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/** Integers with more digits exceed every finite double. */
const digitsBeyondDoubles = 310;

/** True if the text is a number. */
export function isNumber(text: string): boolean {
  const first = text.charCodeAt(0);
  return (first === 45 || (first >= 48 && first <= 57)) && numberPattern.test(text);
}

/** True if the text is a number without fraction and exponent. */
export function isInteger(text: string): boolean {
  return isNumber(text) && !hasFraction(text);
}

/** True if a number is written with a fraction or an exponent: then it is no integer, whatever its value. */
export function hasFraction(number: string): boolean {
  return /[.eE]/.test(number);
}

/**
 * The value of a text, or null if it is not a number: a bigint for an integer that a double cannot hold
 * exactly, else a double. `-0` is 0; what overflows a double (`1e400`) is an infinity.
 */
export function parseNumber(text: string): number | bigint | null {
  if (!isNumber(text)) return null;
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  return hasFraction(text) ? value : BigInt(text);
}

/** Compares the texts of two integers without converting either. */
function compareIntegers(left: string, right: string): number {
  const leftNegative = left.startsWith('-') && left !== '-0';
  const rightNegative = right.startsWith('-') && right !== '-0';
  if (leftNegative !== rightNegative) return leftNegative ? -1 : 1;
  const a = left.startsWith('-') ? left.slice(1) : left;
  const b = right.startsWith('-') ? right.slice(1) : right;
  const magnitude = a.length === b.length ? (a < b ? -1 : a > b ? 1 : 0) : a.length - b.length;
  return leftNegative ? -magnitude : magnitude;
}

/** A long integer becomes an infinity; that is right because it is only compared with a finite double. */
function comparable(text: string): number | bigint {
  if (text.length > digitsBeyondDoubles && isInteger(text))
    return text.startsWith('-') ? -Infinity : Infinity;
  return parseNumber(text) as number | bigint;
}

function compareNumbers(left: string, right: string): number {
  if (left.length < 16 && right.length < 16) {
    const a = Number(left);
    const b = Number(right);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (isInteger(left) && isInteger(right)) return compareIntegers(left, right);
  const a = Number(left);
  const b = Number(right);
  // An infinity from an overflowing double exceeds every integer, however long.
  if (!Number.isFinite(a) && !isInteger(left)) return a === b && !isInteger(right) ? 0 : Math.sign(a);
  if (!Number.isFinite(b) && !isInteger(right)) return -Math.sign(b);
  const x = comparable(left);
  const y = comparable(right);
  return x < y ? -1 : x > y ? 1 : 0;
}

/**
 * The order of the comparisons `<`, `<=` and so on: negative, 0 or positive. Numeric if both are numbers (so
 * `1` and `1.0` are equal), else by code point.
 */
export function compareConstants(left: string, right: string): number {
  if (left === right) return 0;
  return isNumber(left) && isNumber(right) ? compareNumbers(left, right) : compareText(left, right);
}

/**
 * An order of all constants: numbers before text, numbers by value, text by code point. `1` and `1.0` are
 * equal.
 */
export function compareNumbersFirst(left: string, right: string): number {
  const isLeft = isNumber(left);
  return isLeft === isNumber(right) ? compareConstants(left, right) : isLeft ? -1 : 1;
}

/** The meaning of `=`: the same number, or the same text. */
export function equalConstants(left: string, right: string): boolean {
  return left === right || (isNumber(left) && isNumber(right) && compareNumbers(left, right) === 0);
}

/** Whether a comparison of two constants is true; `operator` is one of `< <= > >= = !=`. */
export function holdsComparison(operator: string, left: string, right: string): boolean {
  if (operator === '=') return equalConstants(left, right);
  if (operator === '!=') return !equalConstants(left, right);
  const order = compareConstants(left, right);
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}
