/**
 * Truncates the arguments of a call for a log.
 *
 * Short arguments stay as they are. In long ones, long texts, lists and objects are cut to their beginnings, so that
 * every field still shows something. The cost depends on the result, not on the input.
 */
import { cutText } from '../../proof/proof-text.ts';

/** Maximum UTF-16 code units of arguments, written as JSON. */
const maxCharacters = 1500;

/** Limits for the parts of arguments that are too long. */
const short = { text: 160, items: 20, fields: 40, key: 80 };
const whole = { text: maxCharacters, items: maxCharacters, fields: maxCharacters, key: maxCharacters };

export interface CutArguments {
  readonly value: Record<string, unknown>;
  readonly isCut: boolean;
}

/** The arguments within the limit. */
export function cutArguments(given: Readonly<Record<string, unknown>>): CutArguments {
  const all = new Cutting(whole);
  const value = all.fieldsOf(given);
  if (!all.isCut) return { value, isCut: false };
  return { value: new Cutting(short).fieldsOf(given), isCut: true };
}

class Cutting {
  readonly #most: typeof whole;
  #left = maxCharacters;
  isCut = false;

  constructor(most: typeof whole) {
    this.#most = most;
  }

  fieldsOf(given: object): Record<string, unknown> {
    const kept: [string, unknown][] = [];
    this.#left -= 2;
    for (const key in given) {
      if (this.#isFull(kept.length >= this.#most.fields)) break;
      kept.push([
        this.#text(key, this.#most.key),
        this.#value((given as Readonly<Record<string, unknown>>)[key]),
      ]);
    }
    return Object.fromEntries(kept);
  }

  #value(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value, this.#most.text);
    if (Array.isArray(value)) return this.#items(value);
    if (typeof value === 'object' && value !== null) return this.fieldsOf(value);
    this.#left -= String(value).length + 1;
    return value;
  }

  #items(items: readonly unknown[]): unknown[] {
    const kept: unknown[] = [];
    this.#left -= 2;
    for (const item of items) {
      if (this.#isFull(kept.length >= this.#most.items)) break;
      kept.push(this.#value(item));
    }
    return kept;
  }

  #text(text: string, most: number): string {
    const kept = cutText(text, Math.min(most, Math.max(0, this.#left)));
    if (kept.length !== text.length || text.length > most) this.isCut = true;
    // Counted as written: a control character takes six.
    this.#left -= JSON.stringify(kept).length + 1;
    return kept;
  }

  #isFull(isEnough: boolean): boolean {
    if (!isEnough && this.#left > 0) return false;
    this.isCut = true;
    return true;
  }
}
