import { createHash } from 'node:crypto';
import type { SnapshotPart } from './snapshot-writer.ts';

/** SHA-256 of all bytes of a snapshot's parts, hexadecimal. */
export async function digestOfParts(parts: AsyncIterable<SnapshotPart>): Promise<string> {
  const hash = createHash('sha256');
  for await (const { bytes } of parts) hash.update(bytes);
  return hash.digest('hex');
}

/** SHA-256 of several digests, hexadecimal. */
export function digestOfDigests(digests: readonly string[]): string {
  const hash = createHash('sha256');
  for (const digest of digests) hash.update(digest);
  return hash.digest('hex');
}
