/**
 * JSON whose text is long, parsed in slices: JSON.parse would hold the thread for as long as it takes.
 *
 * Long JSON of this service is one list, by itself or as a field of an object. The text is cut between elements of
 * that list, so every piece is JSON of its own, and what stands around the list is parsed with a marker in its place.
 * The value is the one of JSON.parse; text that does not come apart so is left to JSON.parse, which says what is wrong.
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

/** The long list in a text: where it begins (its bracket), where it is cut (commas), and where it ends (its bracket). */
interface Cut {
  readonly start: number;
  readonly commas: readonly number[];
  readonly end: number;
}

/** How the brackets of a text stand. */
export interface Scan {
  readonly isTooDeep: boolean;
  /** null: there is no one long list. */
  readonly cut: Cut | null;
}

/**
 * Looks through UTF-8 for brackets outside of strings: whether they nest deeper than `limit` (it stops at the first
 * that does), and where the first list of at least 64 KiB lies that stands alone or is a field of the whole.
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

/** True where brackets outside of strings nest deeper than `limit`. For short texts: it does not let others run. */
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

/** The value of the text, its list parsed in pieces; null where a piece is no JSON, and the text therefore not either. */
export async function parseInPieces(
  bytes: Buffer,
  { start, commas, end }: Cut,
  breathe: () => Promise<void>,
): Promise<{ value: unknown } | null> {
  const list: unknown[] = [];
  let from = start + 1;
  for (const to of [...commas, end]) {
    const part = parsed(`[${bytes.toString('utf8', from, to)}]`);
    // An element is missing: nothing stands between two commas, or between one and the bracket.
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
  // Where a later field has the same name, that one counts.
  for (const name of Object.keys(fields)) if (fields[name] === marker) fields[name] = list;
  return { value: fields };
}

function parsed(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // The whole text is parsed then, and its refusal says where it goes wrong.
    return null;
  }
}
