/**
 * Which rows of a pinned relation a snapshot holds: of each fact the newest version at the pinned generation. A fact
 * that had been retracted is told by its dead version, so that it is still known when it last changed.
 *
 * Rows, births and deaths up to the pinned generation never change, so this can be worked out while writes go on.
 */
import type { Slices } from '../../base/slices.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';

/** Rows looked at between two looks at the clock. */
const rowsInSlice = 4096;

/** The generation in which the row had died at the pinned one; Infinity where it was alive. */
export function deathAt(relation: StoredRelation, row: number, generation: number): number {
  const death = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
  return death > generation ? Number.POSITIVE_INFINITY : death;
}

/** The rows to keep of the first `count`, ascending; null: all of them. */
export async function rowsToWrite(
  relation: StoredRelation,
  count: number,
  generation: number,
  slices: Slices,
): Promise<Int32Array | null> {
  if (relation.death === null) return null;
  const kept = new Uint8Array(count);
  let size = 0;
  /** Where the newest version of all came after the pinned moment, by that version: the newest dead one before. */
  const doubtful = new Map<number, number>();
  const isAliveBefore = new Set<number>();
  const identity = new Int32Array(relation.arity + 1);
  for (let row = 0; row < count; row++) {
    if (row % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    const death = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
    if (death > generation) {
      kept[row] = 1;
      size++;
      if (death === Number.POSITIVE_INFINITY) continue;
    }
    for (let position = 0; position <= relation.arity; position++)
      identity[position] = (relation.columns[position] as Int32Array)[row] as number;
    const newest = relation.find(identity);
    if (death > generation) isAliveBefore.add(newest);
    else if (newest === row) {
      kept[row] = 1;
      size++;
    } else if (newest >= count) doubtful.set(newest, row);
  }
  for (const [newest, row] of doubtful)
    if (!isAliveBefore.has(newest)) {
      kept[row] = 1;
      size++;
    }
  if (size === count) return null;
  return indexesOf(kept, size, slices);
}

async function indexesOf(kept: Uint8Array, size: number, slices: Slices): Promise<Int32Array> {
  const rows = new Int32Array(size);
  let at = 0;
  for (let row = 0; row < kept.length; row++) {
    if (row % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    if (kept[row] === 1) rows[at++] = row;
  }
  return rows;
}
