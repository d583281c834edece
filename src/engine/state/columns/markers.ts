import type { Slices } from '../../base/slices.ts';

/** Told of each generation whose time and request are still told. */
export type GenerationNeeded = (generation: number) => void;

const rowsInSlice = 4096;

/** The places that are marked with 1, ascending. */
export async function marked(marks: Uint8Array, slices: Slices): Promise<Int32Array> {
  let count = 0;
  for (let from = 0; from < marks.length; from += rowsInSlice) {
    for (const mark of marks.subarray(from, from + rowsInSlice)) count += mark;
    await slices.breathe();
  }
  const places = new Int32Array(count);
  let at = 0;
  for (let place = 0; place < marks.length; place++) {
    if (place % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    if (marks[place] === 1) places[at++] = place;
  }
  return places;
}
