import { createHash } from 'node:crypto';
import type { SnapshotPart } from './snapshot-writer.ts';

/** SHA-256 of all bytes of a snapshot's parts, hexadecimal. */
export async function digestOfParts(parts: AsyncIterable<SnapshotPart>): Promise<string> {
  const hash = createHash('sha256');
  for await (const { bytes } of parts) hash.update(bytes);
  return hash.digest('hex');
}
