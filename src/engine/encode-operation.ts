import type { Slices } from './base/slices.ts';
import type { Operation } from './operation.ts';

/**
 * A large operation as the log will hold it, written in slices: JSON.stringify of a very long list would hold the
 * thread. The bytes are those of JSON.stringify in UTF-8.
 */
const itemsInSlice = 256;

/** The bytes, or null where the operation is small enough to be written in one go. */
export async function encodedOperation(
  operation: Operation,
  slices: Pick<Slices, 'breathe'>,
): Promise<Uint8Array | null> {
  switch (operation.kind) {
    case 'assert': {
      const { facts, ...rest } = operation;
      return encodedWithList(rest, 'facts', facts, slices);
    }
    case 'mergeScopes': {
      const { resolutions, ...rest } = operation;
      return encodedWithList(rest, 'resolutions', resolutions, slices);
    }
    default:
      return null;
  }
}

/** The object with the list as its last field. */
async function encodedWithList(
  rest: object,
  field: string,
  list: readonly unknown[],
  slices: Pick<Slices, 'breathe'>,
): Promise<Uint8Array | null> {
  if (list.length <= itemsInSlice) return null;
  const encoder = new TextEncoder();
  const parts = [encoder.encode(`${JSON.stringify(rest).slice(0, -1)},"${field}":[`)];
  for (let start = 0; start < list.length; start += itemsInSlice) {
    const text = JSON.stringify(list.slice(start, start + itemsInSlice)).slice(1, -1);
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
