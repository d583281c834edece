/**
 * Answers as JSON: small ones in one piece, large ones in slices.
 *
 * Writing a million results as text at once would hold everyone else up. Arrays that are long are therefore written
 * a slice at a time, and between two slices everything else runs. The bytes are those of JSON.stringify.
 */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Elements of an array that are written without a pause. */
const sliceLength = 1000;

export const jsonType = 'application/json; charset=utf-8';

export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  reply.type(jsonType);
  return reply.send(isLarge(value) ? Readable.from(jsonSlices(value)) : JSON.stringify(value));
}

/** The bytes that `sendJson` sends. */
export async function jsonBytes(value: unknown): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const text of jsonSlices(value)) parts.push(Buffer.from(text));
  return Buffer.concat(parts);
}

/** True where the value or one of its parts, two levels down at most, is a long array. */
function isLarge(value: unknown, levels = 2): boolean {
  if (Array.isArray(value)) return value.length > sliceLength;
  if (levels === 0 || typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((part) => isLarge(part, levels - 1));
}

/** The text of JSON.stringify(value), in pieces; `value` is made of plain objects, arrays and scalars. */
export async function* jsonSlices(value: unknown): AsyncGenerator<string> {
  if (Array.isArray(value) && value.length > sliceLength) {
    for (let start = 0; start < value.length; start += sliceLength) {
      const text = JSON.stringify(value.slice(start, start + sliceLength));
      yield `${start === 0 ? '[' : ','}${text.slice(1, -1)}`;
      await setImmediate();
    }
    yield ']';
  } else if (isLarge(value)) {
    let before = '{';
    for (const [key, part] of Object.entries(value as object)) {
      if (part === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* jsonSlices(part);
      before = ',';
    }
    yield '}';
  } else yield JSON.stringify(value);
}
