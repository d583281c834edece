/**
 * The order of a listing sorted by an argument: numbers first, in numeric order, then text by code point, then null (no
 * such argument). Equal numbers are ordered by their texts, so the order is total.
 */
import { compareText } from '../base/text-order.ts';
import { compareNumbersFirst, isNumber } from '../language/numbers.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';

/** Compares two values in this order. */
export function compareArguments(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return compareNumbersFirst(left, right) || compareText(left, right);
}

/** For each of `count` values, the number of distinct values before it. */
export async function argumentRanks(
  count: number,
  valueAt: (at: number) => string | null,
  pacer: Pacer,
): Promise<Float64Array> {
  const indexOf = new Map<string | null, number>();
  const indexes = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    const value = valueAt(at);
    let index = indexOf.get(value);
    if (index === undefined) indexOf.set(value, (index = indexOf.size));
    indexes[at] = index;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  const distinct = [...indexOf.keys()];
  // Distinct doubles are in the order of their exact values, which decides most comparisons.
  const doubles = new Float64Array(distinct.length);
  for (const [at, value] of distinct.entries()) {
    doubles[at] = value !== null && isNumber(value) ? Number(value) : Number.NaN;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  const compare = (left: number, right: number): number => {
    const difference = (doubles[left] as number) - (doubles[right] as number);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
    return compareArguments(distinct[left] as string | null, distinct[right] as string | null);
  };
  const order = await sortedOrder(distinct.length, compare, pacer);
  const rankOf = new Float64Array(distinct.length);
  for (let rank = 0; rank < order.length; rank++) rankOf[order[rank] as number] = rank;
  return Float64Array.from(indexes, (index) => rankOf[index] as number);
}
