import type { Slices } from './base/slices.ts';
import type { Operation } from './operation.ts';

/**
 * A large operation as the log will hold it, written in slices: JSON.stringify of very many facts would hold the
 * thread. The bytes are those of JSON.stringify in UTF-8.
 */
const factsInSlice = 256;

/** The bytes, or null where the operation is small enough to be written in one go. */
export async function encodedOperation(operation: Operation, slices: Slices): Promise<Uint8Array | null> {
  if (operation.kind !== 'assert' || operation.facts.length <= factsInSlice) return null;
  const { facts, ...rest } = operation;
  const encoder = new TextEncoder();
  const parts = [encoder.encode(`${JSON.stringify(rest).slice(0, -1)},"facts":[`)];
  for (let start = 0; start < facts.length; start += factsInSlice) {
    const text = JSON.stringify(facts.slice(start, start + factsInSlice)).slice(1, -1);
    parts.push(encoder.encode(start === 0 ? text : `,${text}`));
    await slices.breathe();
  }
  parts.push(encoder.encode(']}'));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
