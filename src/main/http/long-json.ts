/**
 * Parses long JSON in slices: JSON.parse would block the thread for as long as it takes.
 *
 * Long JSON of this service is one list, by itself or as a field of an object. The text is cut between elements of that
 * list, so every piece is valid JSON, and the text around the list is parsed with a marker in its place. The value
 * equals that of JSON.parse. Text that cannot be cut this way is left to JSON.parse, which reports what is wrong.
 */
import { randomUUID } from 'node:crypto';

const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;

const bytesBetweenLooks = 128 * 1024;
const pieceBytes = 64 * 1024;

/** The long list in a text: positions of its opening bracket, of the cuts (commas), and of its closing bracket. */
interface Cut {
  readonly start: number;
  readonly commas: readonly number[];
  readonly end: number;
}

/** The bracket structure of a text. */
export interface Scan {
  readonly isTooDeep: boolean;
  /** null: there is no single long list. */
  readonly cut: Cut | null;
}

/**
 * Scans UTF-8 for brackets outside of strings: whether they nest deeper than `limit` (it stops at the first that does),
 * and the position of the first list of at least 64 KiB that is the whole text or a field of it.
 */
export async function scanJson(bytes: Buffer, limit: number, breathe: () => Promise<void>): Promise<Scan> {
  let depth = 0;
  let inString = false;
  let open: { start: number; depth: number; commas: number[] } | null = null;
  let cut: Cut | null = null;
  let nextLook = bytesBetweenLooks;
  for (let index = 0; index < bytes.length; index++) {
    if (index >= nextLook) {
      nextLook = index + bytesBetweenLooks;
      await breathe();
    }
    const byte = bytes[index];
    if (inString) {
      if (byte === backslash) index++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > limit) return { isTooDeep: true, cut: null };
      if (byte === openBracket && depth <= 2 && open === null && cut === null)
        open = { start: index, depth, commas: [] };
    } else if (byte === closeBracket || byte === closeBrace) {
      if (open !== null && depth === open.depth) {
        if (open.commas.length > 0 && byte === closeBracket) cut = { ...open, end: index };
        open = null;
      }
      depth--;
    } else if (byte === comma && open !== null && depth === open.depth) {
      if (index - (open.commas.at(-1) ?? open.start) >= pieceBytes) open.commas.push(index);
    }
  }
  return { isTooDeep: false, cut };
}

/** Whether brackets outside of strings nest deeper than `limit`. For short texts: it does not yield. */
export function nestsDeeper(bytes: Buffer, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (inString) {
      if (byte === backslash) index++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > limit) return true;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return false;
}

/**
 * The value of the text, its list parsed in pieces; null if a piece is not JSON, in which case the text is not JSON
 * either.
 */
export async function parseInPieces(
  bytes: Buffer,
  { start, commas, end }: Cut,
  breathe: () => Promise<void>,
): Promise<{ value: unknown } | null> {
  const list: unknown[] = [];
  let from = start + 1;
  for (const to of [...commas, end]) {
    const part = parsed(`[${bytes.toString('utf8', from, to)}]`);
    // An element is missing between two commas, or between a comma and the bracket.
    if (part === null || (part.value as unknown[]).length === 0) return null;
    for (const element of part.value as unknown[]) list.push(element);
    from = to + 1;
    await breathe();
  }
  const marker = `the list ${randomUUID()}`;
  const before = bytes.toString('utf8', 0, start);
  const around = parsed(`${before}${JSON.stringify(marker)}${bytes.toString('utf8', end + 1)}`);
  if (around === null) return null;
  if (around.value === marker) return { value: list };
  const fields = around.value as Record<string, unknown>;
  // If a later field has the same name, the later one counts.
  for (const name of Object.keys(fields)) if (fields[name] === marker) fields[name] = list;
  return { value: fields };
}

function parsed(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // The caller then parses the whole text, which reports where it is wrong.
    return null;
  }
}
