/**
 * Selects the rows of a pinned relation for a snapshot: each fact's newest version at the pinned generation. A
 * retracted fact is represented by its dead version (a tombstone), which records when it last changed.
 *
 * Rows, births and deaths up to the pinned generation never change, so the selection can run while writes go on.
 */
import type { Slices } from '../../base/slices.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { tupleAt } from '../../store/tuples.ts';

/** Rows scanned between two clock checks. */
const rowsInSlice = 4096;

/** The generation in which the row died, as of the pinned one; Infinity: it was alive. */
export function deathAt(relation: StoredRelation, row: number, generation: number): number {
  const death = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
  return death > generation ? Number.POSITIVE_INFINITY : death;
}

/** The rows to write among the first `count`, ascending; null: all of them. */
export async function rowsToWrite(
  relation: StoredRelation,
  count: number,
  generation: number,
  slices: Slices,
): Promise<Int32Array | null> {
  if (relation.death === null) return null;
  const selected = new Uint8Array(count);
  let size = 0;
  /**
   * For facts whose newest version came after the pinned moment: the newest dead version before it, by the newest one.
   */
  const doubtful = new Map<number, number>();
  const isAliveBefore = new Set<number>();
  const identity = new Int32Array(relation.arity + 1);
  for (let row = 0; row < count; row++) {
    if (row % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    const death = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
    if (death > generation) {
      selected[row] = 1;
      size++;
      if (death === Number.POSITIVE_INFINITY) continue;
    }
    const newest = relation.find(tupleAt(relation, row, identity));
    if (death > generation) isAliveBefore.add(newest);
    else if (newest === row) {
      selected[row] = 1;
      size++;
    } else if (newest >= count) doubtful.set(newest, row);
  }
  for (const [newest, row] of doubtful)
    if (!isAliveBefore.has(newest)) {
      selected[row] = 1;
      size++;
    }
  if (size === count) return null;
  return indexesOf(selected, size, slices);
}

async function indexesOf(selected: Uint8Array, size: number, slices: Slices): Promise<Int32Array> {
  const rows = new Int32Array(size);
  let at = 0;
  for (let row = 0; row < selected.length; row++) {
    if (row % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    if (selected[row] === 1) rows[at++] = row;
  }
  return rows;
}
