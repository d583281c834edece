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
  if (itemsOf(operation) <= itemsInSlice) return null;
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  for (const [at, [field, value]] of Object.entries(operation).entries()) {
    parts.push(encoder.encode(`${at === 0 ? '{' : ','}${JSON.stringify(field)}:`));
    if (!Array.isArray(value)) {
      parts.push(encoder.encode(JSON.stringify(value)));
      continue;
    }
    const items: unknown[] = value;
    for (let start = 0; start < items.length; start += itemsInSlice) {
      const text = JSON.stringify(items.slice(start, start + itemsInSlice)).slice(1, -1);
      parts.push(encoder.encode(`${start === 0 ? '[' : ','}${text}`));
      await slices.breathe();
    }
    parts.push(encoder.encode(items.length === 0 ? '[]' : ']'));
  }
  parts.push(encoder.encode('}'));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function itemsOf(operation: Operation): number {
  switch (operation.kind) {
    case 'assert':
    case 'decay':
    case 'restore':
      return operation.facts.length;
    case 'commit':
      return operation.retract.length + operation.assert.length + operation.rules.length;
    case 'consolidate':
      return operation.values.length;
    default:
      return 0;
  }
}
