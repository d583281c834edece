/**
 * The chunks of a snapshot in PostgreSQL: pieces of bounded size, each sealed and checked by itself. They count once the row of
 * their snapshot names the attempt that stored them.
 */
import { assert } from '../base/assert.ts';
import type { FileSealing, Opener } from './cipher.ts';
import { checksumOf, chunkHead, damagedStore } from './postgres-heads.ts';
import type { PostgresLog, SnapshotRow } from './postgres-log.ts';
import { SNAPSHOT_PAYLOAD_BYTES, snapshotSections } from './snapshot-codec.ts';
import type { SnapshotPart } from './snapshot-writer.ts';

/** Stores the parts as chunks of the attempt; resolves with their bytes, and how many each section has. Rejects with a StatementFailed. */
export async function storeChunks(
  log: Pick<PostgresLog, 'putChunk'>,
  attempt: string,
  epoch: number,
  { sealer }: FileSealing,
  parts: AsyncIterable<SnapshotPart>,
): Promise<Pick<SnapshotRow, 'bytes' | 'chunks'>> {
  const chunks: Record<number, number> = {};
  const payload = new Uint8Array(SNAPSHOT_PAYLOAD_BYTES);
  let filled = 0;
  let section: number = snapshotSections.state;
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (filled === 0) return;
    const n = chunks[section] ?? 0;
    const nonce = sealer.nextNonce();
    const head = chunkHead(attempt, { section, n, epoch, nonce });
    const sealed = Buffer.concat(sealer.seal(nonce, head, [payload.subarray(0, filled)]));
    filled = 0;
    await log.putChunk(attempt, { section, n, nonce, bytes: sealed, checksum: checksumOf(head, sealed) });
    chunks[section] = n + 1;
    bytes += sealed.length;
  };
  for await (const part of parts) {
    const next = snapshotSections[part.section];
    assert(next >= section, 'the sections of a snapshot come in their order');
    if (next !== section) await flush();
    section = next;
    for (let from = 0; from < part.bytes.length; ) {
      const piece = part.bytes.subarray(from, from + payload.length - filled);
      payload.set(piece, filled);
      filled += piece.length;
      from += piece.length;
      if (filled === payload.length) await flush();
    }
  }
  await flush();
  return { bytes, chunks };
}

/** The pieces of a section as they were stored. Rejects with a StartupError if one is missing, or does not verify. */
export async function* storedPieces(
  log: Pick<PostgresLog, 'chunks'>,
  opener: Opener,
  { attempt, epoch, chunks, sequence }: SnapshotRow,
  name: SnapshotPart['section'],
): AsyncGenerator<Uint8Array, void, undefined> {
  const section = snapshotSections[name];
  const total = chunks[section] ?? 0;
  for (let n = 0; n < total; ) {
    const found = await log.chunks(attempt, section, n);
    if (found.length === 0) throw damagedStore('a piece of the snapshot is missing', sequence);
    for (const chunk of found) {
      const head = chunkHead(attempt, { section, n, epoch, nonce: chunk.nonce });
      const isIntact = chunk.n === n && checksumOf(head, chunk.bytes) === chunk.checksum;
      const bytes = isIntact ? opener.open(chunk.nonce, head, chunk.bytes) : null;
      if (bytes === null) throw damagedStore('a piece of the snapshot does not verify', sequence);
      n++;
      yield bytes;
    }
  }
}
