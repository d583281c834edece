/**
 * Turns of a conversation as the texts of facts `said(session, number, text)`: what nothing was extracted from is found by
 * its words later.
 */
import { isVariable, maxConstantBytes } from '../../engine/contract/language.ts';

/** The texts that keep these turns, in order: each turn, or its parts. Blank turns and parts are left out. */
export function saidTexts(turns: readonly string[]): string[] {
  return turns.flatMap(partsOfTurn).filter((part) => part.trim() !== '');
}

/** The turn in parts that each fit in a constant, cut at line breaks; a longer line at white space, else anywhere. */
function partsOfTurn(turn: string): string[] {
  const parts: string[] = [];
  let rest = asConstant(turn);
  while (Buffer.byteLength(rest) > maxConstantBytes) {
    const { end, next } = lastCut(rest, endWithin(rest, maxConstantBytes));
    parts.push(rest.slice(0, end));
    rest = asConstant(rest.slice(next));
  }
  return [...parts, rest];
}

/** A constant does not start with `?`, which begins a variable. */
function asConstant(text: string): string {
  return isVariable(text) ? ` ${text}` : text;
}

const encoder = new TextEncoder();

/** The length of the longest beginning of the text that has at most so many bytes, without half a character. */
function endWithin(text: string, bytes: number): number {
  return encoder.encodeInto(text, new Uint8Array(bytes)).read;
}

/** Where to cut the text, `end` at the latest, and where the next part begins: the break itself goes. */
function lastCut(text: string, end: number): { readonly end: number; readonly next: number } {
  const within = text.slice(0, end + 1);
  for (const border of [/\r\n|\n|\r/g, /\s/g]) {
    const last = [...within.matchAll(border)].at(-1);
    if (last !== undefined && last.index > 0) return { end: last.index, next: last.index + last[0].length };
  }
  return { end, next: end };
}
