/**
 * Finds what a text mentions: spans that are constants or predicates, longest first.
 *
 * Names are compared by their folded letters and digits, so that "New York" means `new_york` and "lives in" `livesIn`;
 * predicates also by the stems of their words. A run that means nothing is compared with names that differ in one
 * letter. An alias means its entity.
 */
import { compareText } from '../base/text-order.ts';
import type { Mention } from '../contract/mention.ts';
import { isTooCommon, type ViewNames } from './view-names.ts';
import type { WordIndex } from './word-index.ts';
import { stemOf, type Word, wordsOf } from './words.ts';

/** Most words of a name. */
const maxWords = 10;
/** Most words of a name that is looked for with a wrong letter. */
const maxMisspeltWords = 3;
/** A misspelt name has at least this many letters, and at most this many UTF-16 units: each has some 40 misspellings. */
const minMisspelt = 5;
const maxMisspelt = 64;
/** Most runs of a text that are tried as misspellings: every one costs thousands of look-ups. */
const maxMisspeltRuns = 512;
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** The end of a quotation by its beginning. */
const closingQuotes: Readonly<Record<string, string>> = { '"': '"', '“': '”', '`': '`', "'": "'" };
const wordCharacter = /[\p{L}\p{N}]/u;

/** What a name means. */
interface Meaning {
  readonly constants: readonly string[];
  readonly predicates: readonly string[];
}

/** The mentions of a text in order; they do not overlap. `index` has taken in every constant. */
export async function mentionsIn(text: string, names: ViewNames, index: WordIndex): Promise<Mention[]> {
  await names.takeAliases();
  const search = new MentionSearch(text, names, index);
  search.takeQuoted();
  await search.takeRuns(maxWords, (run) => search.meaning(run));
  await search.takeRuns(maxMisspeltWords, (run) => search.misspelt(run));
  return search.found.sort((left, right) => left.start - right.start);
}

/**
 * False for a number inside a text: it is a word like any other there, and the facts that have the constant are about
 * anything. True for one that is the whole text or stands in quotes.
 */
export function isTelling({ start, end, text: span }: Mention, text: string): boolean {
  if (!/^[\d.,]+$/.test(span) || span === text.trim()) return true;
  return /^["'`“].["'`”]$/u.test(`${text[start - 1]}.${text[end]}`);
}

class MentionSearch {
  readonly found: Mention[] = [];
  readonly #text: string;
  readonly #names: ViewNames;
  readonly #index: WordIndex;
  readonly #words: readonly Word[];
  /** By word: true if a mention covers it. */
  readonly #isCovered: boolean[];
  #misspeltRuns = 0;

  constructor(text: string, names: ViewNames, index: WordIndex) {
    this.#text = text;
    this.#names = names;
    this.#index = index;
    this.#words = wordsOf(text);
    this.#isCovered = this.#words.map(() => false);
  }

  /** Takes what stands in quotes and is a constant, letter by letter. */
  takeQuoted(): void {
    const { aliases } = this.#names.context.tenant;
    let firstWord = 0;
    for (const { start, end } of quotationsIn(this.#text)) {
      const inner = this.#text.slice(start, end);
      const named = new Set([inner, aliases.get(inner)?.entity ?? inner]);
      const constants = [...named].filter((constant) => this.#names.hasText(constant));
      if (constants.length === 0) continue;
      while ((this.#words[firstWord]?.end ?? start + 1) <= start) firstWord++;
      this.#take(start, end, firstWord, { constants, predicates: [] });
    }
  }

  /** Takes runs of words that mean something, longest first, then leftmost. */
  async takeRuns(most: number, meaningOf: (run: readonly Word[]) => Meaning | null): Promise<void> {
    const words = this.#words;
    let looked = 0;
    for (let length = Math.min(most, words.length); length > 0; length--)
      for (let first = 0; first + length <= words.length; first++) {
        if ((++looked & 0x3f) === 0) await this.#names.context.pacer.breathe();
        if (this.#isCovered.slice(first, first + length).includes(true)) continue;
        const run = words.slice(first, first + length);
        const [only] = run;
        if (length === 1 && words.length > 1 && only !== undefined && isTooCommon(only.text)) continue;
        const meaning = meaningOf(run);
        if (meaning !== null) this.#take((run[0] as Word).start, (run.at(-1) as Word).end, first, meaning);
      }
  }

  /** The constants and predicates of this name; null: none. */
  meaning(run: readonly Word[]): Meaning | null {
    const constants = this.#constantsNamed(run.map(({ text }) => text).join(''));
    const predicates = this.#names.predicatesNamed(run.map(({ text }) => stemOf(text)).join(''));
    return constants.length === 0 && predicates.length === 0 ? null : { constants, predicates };
  }

  /** The constants and predicates whose name differs in one letter; null: none. */
  misspelt(run: readonly Word[]): Meaning | null {
    const name = run.map(({ text }) => text).join('');
    if (name.length < minMisspelt || name.length > maxMisspelt) return null;
    if (run.some(({ text }) => isTooCommon(text))) return null;
    // A word of what is known is spelt as it should be.
    if (run.every(({ text }) => this.#index.constants.documents(stemOf(text)) > 0)) return null;
    if (++this.#misspeltRuns > maxMisspeltRuns) return null;
    const constants = new Set<string>();
    for (const edited of editsOf(name)) for (const each of this.#constantsNamed(edited)) constants.add(each);
    const stemmed = run.map(({ text }) => stemOf(text)).join('');
    const predicates = new Set<string>();
    for (const other of this.#names.predicateNames())
      if (isOneEditAway(other, stemmed) || isOneEditAway(other, name))
        for (const each of this.#names.predicatesNamed(other)) predicates.add(each);
    if (constants.size === 0 && predicates.size === 0) return null;
    return {
      constants: [...constants].sort(compareText),
      predicates: [...predicates].sort(compareText),
    };
  }

  #constantsNamed(name: string): string[] {
    const { dictionary } = this.#names.context.tenant.facts;
    const found = new Set(this.#names.ruledNamed(name));
    for (const id of this.#index.named(name)) if (this.#names.has(id)) found.add(dictionary.text(id));
    for (const entity of this.#names.aliasedNamed(name)) found.add(entity);
    return [...found].sort(compareText);
  }

  /** `firstWord`: number of the first word that ends after `start`. */
  #take(start: number, end: number, firstWord: number, { constants, predicates }: Meaning): void {
    const text = this.#text.slice(start, end);
    this.found.push({ start, end, text, constants: [...constants], predicates: [...predicates] });
    for (let at = firstWord; (this.#words[at]?.start ?? end) < end; at++) this.#isCovered[at] = true;
  }
}

/** What stands in quotes, not empty, in order, without the quotes. An apostrophe within a word is no quote. */
function* quotationsIn(text: string): Generator<{ readonly start: number; readonly end: number }> {
  /** By closing quote: its first place that was not passed yet; -1: there is none. */
  const next = new Map<string, number>();
  for (let at = 0; at < text.length; at++) {
    const closing = closingQuotes[text.charAt(at)];
    if (closing === undefined) continue;
    let end = next.get(closing) ?? 0;
    if (end >= 0 && end <= at) {
      end = text.indexOf(closing, at + 1);
      next.set(closing, end);
    }
    if (end <= at + 1) continue;
    const isWithinWord = wordCharacter.test(text.charAt(at - 1)) || wordCharacter.test(text.charAt(end + 1));
    if (closing === "'" && isWithinWord) continue;
    yield { start: at + 1, end };
    at = end;
  }
}

/** All texts at an edit distance of 1, over the letters and digits of English and those of the name. */
function* editsOf(name: string): Generator<string> {
  const alphabet = new Set([...letters, ...name]);
  for (let at = 0; at <= name.length; at++) {
    const [before, after] = [name.slice(0, at), name.slice(at)];
    if (after !== '') yield before + after.slice(1);
    for (const letter of alphabet) {
      yield before + letter + after;
      if (after !== '' && after[0] !== letter) yield before + letter + after.slice(1);
    }
  }
}

/** True if one letter inserted, left out or replaced makes one text the other. */
function isOneEditAway(left: string, right: string): boolean {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  if (long.length - short.length > 1 || long.length < minMisspelt || left === right) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  return short.slice(long.length === short.length ? at + 1 : at) === long.slice(at + 1);
}
