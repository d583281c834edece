/**
 * Answers as JSON: small ones in one piece, large ones in slices.
 *
 * Writing a million results as text at once would hold everyone else up. Arrays that are long are therefore written
 * a slice at a time, and between two slices everything else runs. The bytes are those of JSON.stringify.
 *
 * Small answers are sent at the end of the turn of the event loop in which they were made, all of it together. Sent one by
 * one each wakes its client, which on a machine with few processors costs more than making it did.
 */
import { Readable } from 'node:stream';
import { setImmediate as atEndOfTurn } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Elements of an array that are written without a pause. */
const sliceLength = 1000;

export const jsonType = 'application/json; charset=utf-8';

/** Answers with the value, now or at the end of this turn of the event loop. */
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
 * The same past the framework, with these headers, as names and values in turn. Of the reply nothing may be set yet but
 * its status, and its request is no HEAD.
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

/** Has an answer sent at the end of this turn. */
function atEnd(reply: FastifyReply, send: () => void): void {
  made.push({ reply, send });
  if (made.length === 1) atEndOfTurn(sendMade);
}

/** Answers of this turn that are not sent yet. */
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

/** How deep long arrays are looked for: the steps of a proof lie there in a part of an A2A message. */
const deepest = 7;

/** True where the value or one of its parts, so many levels down at most, is a long array. */
export function isLarge(value: unknown, levels = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) && value.length > sliceLength) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    // Most are lists of texts and numbers, and none of those is large.
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

/** The text of JSON.stringify(value), in pieces; `value` is made of plain objects, arrays and scalars. */
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

/** Where the elements from `start` on end that are written in one piece: before one that is large. */
function endOfSlice(items: readonly unknown[], start: number): number {
  const most = Math.min(items.length, start + sliceLength);
  for (let end = start; end < most; end++) if (isLarge(items[end])) return end;
  return most;
}
