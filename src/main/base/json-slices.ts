/**
 * Long JSON in pieces, so that no turn of the event loop writes more than a piece: pieces are measured in characters,
 * as one element of a list can be longer than a million others. The text is that of JSON.stringify.
 *
 * Values consist of plain objects, arrays, texts, numbers, booleans and null.
 */
import type { Pause } from '../../engine/index.ts';

/** Characters of one piece, about. */
export const pieceLength = 128 * 1024;

/** Whether the JSON of the value is longer than a piece. It looks at no more than a piece to find out. */
export function isLarge(value: unknown): boolean {
  return roomAfter(value, pieceLength) < 0;
}

/** What is left of `room` after the characters of the value's JSON, about; negative: there is no room for it. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 3;
  if (typeof value !== 'object' || value === null) return room - 6;
  let left = room - 3;
  if (Array.isArray(value)) {
    // Every element has a character at least.
    if (value.length > left) return -1;
    for (const element of value as unknown[]) {
      left = roomAfter(element, left);
      if (left < 0) return left;
    }
    return left;
  }
  for (const key in value) {
    left = roomAfter((value as Record<string, unknown>)[key], left - key.length - 3);
    if (left < 0) return left;
  }
  return left;
}

/** The text of JSON.stringify(value) in pieces; other work runs between two of them, by `Scheduler.resumeOf`. */
export async function* jsonSlices(value: unknown, pause: Pause): AsyncGenerator<string> {
  let piece = '';
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
    await pause();
  }
  if (piece !== '') yield piece;
}

/** The text in parts, none much longer than a piece. */
function* partsOf(value: unknown): Generator<string> {
  if (!isLarge(value)) yield JSON.stringify(value);
  else if (typeof value === 'string') yield* partsOfText(value);
  else if (Array.isArray(value)) yield* partsOfList(value as unknown[]);
  else {
    let before = '{';
    for (const key in value as object) {
      const field = (value as Record<string, unknown>)[key];
      if (field === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* partsOf(field);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  }
}

function* partsOfList(list: readonly unknown[]): Generator<string> {
  let before = '[';
  for (let start = 0; start < list.length; ) {
    const end = endOfPart(list, start);
    if (end > start) yield before + JSON.stringify(list.slice(start, end)).slice(1, -1);
    else {
      yield before;
      yield* partsOf(list[start]);
    }
    before = ',';
    start = Math.max(end, start + 1);
  }
  yield before === '[' ? '[]' : ']';
}

/** The end of the elements from `start` that are together no longer than a piece; `start` if the first one is. */
function endOfPart(list: readonly unknown[], start: number): number {
  let room = pieceLength;
  let end = start;
  for (; end < list.length; end++) {
    room = roomAfter(list[end], room);
    if (room < 0) break;
  }
  return end;
}

function* partsOfText(text: string): Generator<string> {
  yield '"';
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + pieceLength);
    // A pair of surrogates is one character: apart, each would be escaped.
    if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end++;
    yield JSON.stringify(text.slice(start, end)).slice(1, -1);
    start = end;
  }
  yield '"';
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** UTF-16 code units of JSON.stringify(value), counted in pieces. */
export async function jsonLength(value: unknown, pause: Pause): Promise<number> {
  let length = 0;
  for await (const piece of jsonSlices(value, pause)) length += piece.length;
  return length;
}

/** The JSON of the value in UTF-8, written in pieces. */
export async function jsonBytes(value: unknown, pause: Pause): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const text of jsonSlices(value, pause)) {
    const part = Buffer.from(text);
    parts.push(part);
    size += part.length;
  }
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) {
    at += part.copy(whole, at);
    if (at % copiedBytes < part.length) await pause();
  }
  return whole;
}

/** Bytes copied between two pauses. */
const copiedBytes = 1024 * 1024;
