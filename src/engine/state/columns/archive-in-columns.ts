/**
 * Reads and writes the archived versions of merge bases: for each relation, those present when pinned. The archive is
 * append-only, so they can be written while writes go on.
 */
import type { Slices } from '../../base/slices.ts';
import type { Metadata } from '../../contract/facts.ts';
import { ArchivedVersions, type PinnedArchive } from '../../store/version-archive.ts';
import { type ColumnReader, type ColumnWriter, markedIndexes } from './columns.ts';

const versionsInSlice = 4096;

/** Marks the constants that the versions use. */
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

/** Writes the versions; `ids` maps constants to their ids in the snapshot. */
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
