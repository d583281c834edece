import { compareText } from '../base/text-order.ts';
import type { Constants } from './constants.ts';
import type { Pacer } from './evaluation.ts';

/** Sorts and ranks in slices, so that a large answer does not hold the thread. */

const smallEnough = 4096;

/** The numbers 0 to `count` - 1 in the order of `compare`, ties in their own order. */
export async function sortedOrder(
  count: number,
  compare: (left: number, right: number) => number,
  pacer: Pacer,
): Promise<Int32Array> {
  let from = Int32Array.from({ length: count }, (_, index) => index);
  for (let start = 0; start < count; start += smallEnough) {
    const part = from.subarray(start, Math.min(count, start + smallEnough));
    part.sort((left, right) => compare(left, right) || left - right);
    await pacer.breathe();
  }
  let to = new Int32Array(count);
  for (let width = smallEnough; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(count, start + width);
      const end = Math.min(count, start + 2 * width);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const takeLeft =
          left < middle && (right >= end || compare(from[left] as number, from[right] as number) <= 0);
        to[at] = (takeLeft ? from[left++] : from[right++]) as number;
        if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/**
 * The rows of a matrix of ids (`width` ids a row) in the order of their texts by code point, column by column.
 * Returns row numbers; rows of equal texts come in the order of `last`.
 */
export async function rowsByText(
  ids: Int32Array,
  width: number,
  constants: Constants,
  pacer: Pacer,
  last: (row: number) => number = () => 0,
): Promise<Int32Array> {
  const count = width === 0 ? Math.min(1, ids.length) : ids.length / width;
  if (count <= 1) return Int32Array.from({ length: count }, () => 0);
  const place = new Map<number, number>();
  const distinct: number[] = [];
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] as number;
    if (!place.has(id)) {
      place.set(id, distinct.length);
      distinct.push(id);
    }
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  const texts: string[] = [];
  for (const id of distinct) {
    texts.push(constants.text(id));
    if ((texts.length & 0x3fff) === 0) await pacer.breathe();
  }
  const order = await sortedOrder(
    distinct.length,
    (left, right) => compareText(texts[left] as string, texts[right] as string),
    pacer,
  );
  const rank = new Int32Array(distinct.length);
  for (let at = 0; at < order.length; at++) rank[order[at] as number] = at;
  const ranks = new Int32Array(ids.length);
  for (let at = 0; at < ids.length; at++) {
    ranks[at] = rank[place.get(ids[at] as number) as number] as number;
    if ((at & 0x3fff) === 0x3fff) await pacer.breathe();
  }
  return sortedOrder(
    count,
    (left, right) => {
      for (let column = 0; column < width; column++) {
        const difference =
          (ranks[left * width + column] as number) - (ranks[right * width + column] as number);
        if (difference !== 0) return difference;
      }
      return last(left) - last(right);
    },
    pacer,
  );
}
