/** What is authenticated with each sealed piece of a log in PostgreSQL, and what a piece that does not verify means. */
import { crc32 } from 'node:zlib';
import type { StoredFrame } from './postgres-log.ts';
import { StartupError } from './startup-error.ts';

/** A damaged store is not changed. */
export function damagedStore(what: string, sequence: number): StartupError {
  return new StartupError(
    `The store is damaged: ${what} (log of STORE_URL, number ${sequence}). Nothing was changed. Restore the database ` +
      "with PostgreSQL's tools.",
    { file: 'STORE_URL' },
  );
}

/** Of a head and sealed bytes. */
export function checksumOf(head: Uint8Array, bytes: Uint8Array): number {
  return crc32(bytes, crc32(head));
}

/** Of a frame of this log. */
export function frameHead(
  log: number,
  { first, count, epoch, nonce }: Omit<StoredFrame, 'checksum' | 'payload'>,
): Buffer {
  return Buffer.from(`frame ${log} ${epoch} ${first} ${count} ${nonce}`);
}

/** Of a piece of a snapshot. */
export function chunkHead(
  attempt: string,
  of: { section: number; n: number; epoch: number; nonce: number },
): Buffer {
  return Buffer.from(`chunk ${attempt} ${of.epoch} ${of.section} ${of.n} ${of.nonce}`);
}

/** Of the key of an epoch. */
export function epochHead(log: number, epoch: number): Buffer {
  return Buffer.from(`epoch ${log} ${epoch}`);
}
