/**
 * The order in which a listing that is sorted by an argument has its values: numbers first, numerically, then text by
 * code point, then what has no such argument (null). Numbers that are equal come by their texts, so that the order is
 * total.
 */
import { compareText } from '../base/text-order.ts';
import { compareNumbersFirst, isNumber } from '../language/numbers.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';

/** Compares two values in that order. */
export function compareArguments(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return compareNumbersFirst(left, right) || compareText(left, right);
}

/** For each of `count` values the number of different values that come before it. */
export async function argumentRanks(
  count: number,
  valueAt: (at: number) => string | null,
  pacer: Pacer,
): Promise<Float64Array> {
  const placeOf = new Map<string | null, number>();
  const places = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    const value = valueAt(at);
    let place = placeOf.get(value);
    if (place === undefined) placeOf.set(value, (place = placeOf.size));
    places[at] = place;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  const distinct = [...placeOf.keys()];
  // Doubles that differ are in the order of their exact values; most comparisons need no more.
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
  return Float64Array.from(places, (place) => rankOf[place] as number);
}
