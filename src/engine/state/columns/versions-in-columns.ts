import type { Slices } from '../../base/slices.ts';
import type { Metadata } from '../../contract/facts.ts';
import { ArchivedVersions, type PinnedArchive } from '../../store/version-archive.ts';
import { type ColumnReader, type ColumnWriter, markedIndexes } from './columns.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import { tupleAt } from '../../store/tuples.ts';

/**
 * Selects the rows of a pinned relation for a snapshot: each fact's newest version at the pinned generation. A
 * retracted fact is represented by its dead version (a tombstone), which records when it last changed.
 *
 * Rows, births and deaths up to the pinned generation never change, so the selection can run while writes go on.
 */

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
  /** By the newest one: the last version that was alive at the pinned moment and has died since. */
  const aliveBefore = new Map<number, number>();
  const identity = new Int32Array(relation.arity + 1);
  for (let row = 0; row < count; row++) {
    if (row % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    const death = relation.death?.[row] ?? Number.POSITIVE_INFINITY;
    if (death > generation) {
      selected[row] = 1;
      size++;
      if (death === Number.POSITIVE_INFINITY) continue;
    } else if (relation.erased?.has(relation.number[row] as number) === true) continue;
    const newest = relation.find(tupleAt(relation, row, identity));
    if (death > generation) aliveBefore.set(newest, row);
    else if (newest === row) {
      selected[row] = 1;
      size++;
    } else if (newest >= count) doubtful.set(newest, row);
  }
  for (const [newest, row] of doubtful)
    if ((aliveBefore.get(newest) ?? -1) < row) {
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

const versionsInSlice = 4096;

/** Marks the constants that the archived versions use. */
export async function markConstants(
  { versions, count }: PinnedArchive,
  isUsed: Uint8Array,
  slices: Slices,
): Promise<void> {
  for (let at = 0; at < count; at++) {
    if (at % versionsInSlice === versionsInSlice - 1) await slices.breathe();
    for (const id of versions.argsAt(at)) isUsed[id] = 1;
  }
}

/**
 * Writes the archived versions of merge bases: for each relation, those present when pinned. The archive is
 * append-only, so they can be written while writes go on. `ids` maps constants to their ids in the snapshot.
 */
export async function* writeArchived(
  { versions, count }: PinnedArchive,
  ids: Int32Array,
  columns: ColumnWriter,
  slices: Slices,
): AsyncGenerator<Uint8Array> {
  const { arity, births, deaths, froms, untils, metadata } = versions;
  const width = arity + 1;
  const { identities } = versions;
  yield* columns.int32(count * width, (piece, from) => {
    for (let at = 0; at < piece.length; at++) {
      const value = identities[from + at] as number;
      piece[at] = (from + at) % width === arity ? value : (ids[value] as number);
    }
  });
  for (const column of [births, deaths, froms, untils])
    yield* columns.float64(count, (piece, from) => piece.set(column.subarray(from, from + piece.length)));
  const isThere = new Uint8Array(count);
  for (const at of metadata.keys()) if (at < count) isThere[at] = 1;
  const indexes = await markedIndexes(isThere, slices);
  yield* columns.int32(indexes.length, (piece, from) =>
    piece.set(indexes.subarray(from, from + piece.length)),
  );
  yield* columns.texts(metadataOf(versions, indexes));
}

/** Reads what `writeArchived` wrote. */
export async function readArchived(arity: number, columns: ColumnReader): Promise<ArchivedVersions> {
  const versions = new ArchivedVersions(arity);
  versions.identities = await columns.int32();
  versions.births = await columns.float64();
  versions.deaths = await columns.float64();
  versions.froms = await columns.float64();
  versions.untils = await columns.float64();
  versions.count = versions.births.length;
  const indexes = await columns.int32();
  await columns.texts((text, at) => {
    versions.metadata.set(indexes[at] as number, JSON.parse(decoder.decode(text)) as Metadata);
  });
  return versions;
}

function* metadataOf({ metadata }: ArchivedVersions, indexes: Int32Array): Generator<Uint8Array> {
  for (const at of indexes) yield encoder.encode(JSON.stringify(metadata.get(at)));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
