/**
 * Answers as JSON: small ones in one piece, large ones in slices.
 *
 * Serializing a million results at once would block every other request. Long arrays are therefore written a slice at a
 * time, and other work runs between two slices. The bytes are those of JSON.stringify.
 *
 * Small answers are sent together at the end of the turn of the event loop that made them. Sending each one separately
 * wakes its client, which on a machine with few processors costs more than making the answer.
 */
import { Readable } from 'node:stream';
import { setImmediate as atEndOfTurn } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Array elements written in one go. */
const sliceLength = 1000;

export const jsonType = 'application/json; charset=utf-8';

/** Sends the value, now or at the end of this turn of the event loop. */
export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  reply.type(jsonType);
  if (isLarge(value)) return reply.send(Readable.from(jsonSlices(value)));
  const text = JSON.stringify(value);
  atEnd(reply, () => {
    void reply.send(text);
  });
  return reply;
}

/**
 * The same past the framework, with these headers as alternating names and values. Only the status of the reply may be
 * set yet, and its request must not be a HEAD.
 */
export function writeJson(reply: FastifyReply, value: unknown, headers: readonly string[]): void {
  const { raw } = reply;
  const text = JSON.stringify(value);
  const length = String(Buffer.byteLength(text));
  const head = [...headers, 'content-type', jsonType, 'content-length', length];
  atEnd(reply, () => {
    raw.writeHead(raw.statusCode, head).end(text);
  });
}

/** Sends an answer at the end of this turn. */
function atEnd(reply: FastifyReply, send: () => void): void {
  made.push({ reply, send });
  if (made.length === 1) atEndOfTurn(sendMade);
}

/** Answers of this turn that have not been sent. */
let made: { readonly reply: FastifyReply; readonly send: () => void }[] = [];

function sendMade(): void {
  const all = made;
  made = [];
  for (const { reply, send } of all)
    try {
      send();
    } catch (error) {
      reply.log.error({ err: error }, 'a bug: an answer could not be sent');
      reply.raw.destroy();
    }
}

/** The bytes that `sendJson` sends. */
export async function jsonBytes(value: unknown): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const text of jsonSlices(value)) parts.push(Buffer.from(text));
  return Buffer.concat(parts);
}

/** Levels searched for long arrays: the steps of a proof in a part of an A2A message lie that deep. */
const deepest = 7;

/** Whether the value, or a part of it at most `levels` down, is a long array. */
export function isLarge(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) && value.length > sliceLength) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    // Most arrays contain texts and numbers, which are never large.
    for (const part of value as unknown[])
      if (typeof part === 'object' && part !== null && isLarge(part, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const part = (value as Record<string, unknown>)[key];
    if (typeof part === 'object' && part !== null && isLarge(part, levels - 1)) return true;
  }
  return false;
}

/** The text of JSON.stringify(value) in pieces; `value` consists of plain objects, arrays and scalars. */
export async function* jsonSlices(value: unknown): AsyncGenerator<string> {
  if (!isLarge(value)) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    const items: unknown[] = value;
    let before = '[';
    for (let start = 0; start < items.length; ) {
      const end = endOfSlice(items, start);
      if (end > start) {
        yield before + JSON.stringify(items.slice(start, end)).slice(1, -1);
        await setImmediate();
      } else {
        yield before;
        yield* jsonSlices(items[start]);
      }
      before = ',';
      start = Math.max(end, start + 1);
    }
    yield ']';
  } else {
    let before = '{';
    for (const [key, part] of Object.entries(value as object)) {
      if (part === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* jsonSlices(part);
      before = ',';
    }
    yield '}';
  }
}

/** The end of the elements from `start` that are written in one piece: it is before a large one. */
function endOfSlice(items: readonly unknown[], start: number): number {
  const most = Math.min(items.length, start + sliceLength);
  for (let end = start; end < most; end++) if (isLarge(items[end])) return end;
  return most;
}
