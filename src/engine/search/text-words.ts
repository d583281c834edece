import { compareText } from '../base/text-order.ts';
import type { ViewNames } from './view-names.ts';
import { type Postings, rarity } from './postings.ts';
import { textOf, type WordIndex } from './word-index.ts';
import { isStopWord, stemOf, termsOf, wordsOf } from './words.ts';

/** What each term of the text is worth in something. */
export type Worth = ReadonlyMap<string, number>;

/** How something matches the text by its words. */
export interface WordMatch {
  readonly value: number;
  /** The words of the text that it has, in their order. */
  readonly words: readonly string[];
}

/** What the words are worth in something beside a thing, and the share of it that counts for the thing. */
export interface Beside {
  readonly worth: Worth;
  readonly share: number;
  /** True if it surely continues the thing, so that its words alone make the thing match. */
  readonly isNext: boolean;
}

/** Documents, and what the words are worth in each. */
export interface Documents {
  readonly numbers: number[];
  readonly worths: number[];
}

const nothing: Worth = new Map();
/** Most documents that are compared, and most postings of a term that are looked at: one that more have says little. */
const maxDocuments = 4_096;
const maxPostings = 65_536;

/**
 * The words of a searched text, without English function words, and what they are worth in constants, predicates and
 * metadata: BM25, each as a collection of its own. Of several parts of a fact with one word, the best counts.
 */
export class TextWords {
  /** By term: the word of the text that it stands for. */
  readonly terms: ReadonlyMap<string, string>;
  /** The words of the text, in order, with their terms. */
  readonly #words: ReadonlyMap<string, readonly string[]>;
  readonly #index: WordIndex;
  readonly #names: ViewNames;
  readonly #ofConstants = new Map<number, Map<string, number>>();
  readonly #ofPredicates = new Map<string, Worth>();
  /** By term: its rarity among constants. */
  readonly #rarities = new Map<string, number>();
  /** True if `#ofConstants` has every constant with any of the words. */
  #isComplete = false;

  /**
   * `mentioned`: the constants that the text names. A name in many facts says little, though it is one constant.
   * `completions`: further terms for its last word.
   */
  constructor(
    text: string,
    names: ViewNames,
    index: WordIndex,
    mentioned: readonly number[],
    completions: readonly string[] = [],
  ) {
    const words = wordsOf(text).map((word) => word.text);
    const telling = words.filter((word) => !isStopWord(word));
    const last = words.at(-1) ?? '';
    this.terms = new Map([
      ...completions.map((term): [string, string] => [term, last]),
      ...(telling.length > 0 || completions.length > 0 ? telling : words).map((word): [string, string] => [
        stemOf(word),
        word,
      ]),
    ]);
    const byWord = new Map<string, string[]>();
    for (const word of words) byWord.set(word, []);
    for (const [term, word] of this.terms) byWord.get(word)?.push(term);
    this.#words = byWord;
    this.#names = names;
    this.#index = index;
    const { constants } = index;
    const having = new Map(Array.from(this.terms.keys(), (term) => [term, constants.documents(term)]));
    for (const id of mentioned) {
      const uses = names.usesOf(id);
      for (const term of new Set(termsOf(names.context.tenant.facts.dictionary.text(id))))
        if (having.has(term)) having.set(term, (having.get(term) as number) + uses);
    }
    for (const [term, count] of having)
      this.#rarities.set(term, rarity(Math.max(constants.count, count), count));
  }

  /** The constants with any of the words and what each is worth in all. Yields to others now and then. */
  async constants(): Promise<Documents> {
    const { documents, isComplete } = await this.#documents(this.#index.constants, this.#ofConstants);
    this.#isComplete = isComplete;
    return documents;
  }

  /** The same for the rows with metadata, by document. */
  async metadata(): Promise<Documents> {
    const { documents } = await this.#documents(this.#index.metadata, new Map());
    return documents;
  }

  #rarityOf(term: string, postings: Postings): number {
    if (postings === this.#index.constants) return this.#rarities.get(term) as number;
    return rarity(postings.count, postings.documents(term));
  }

  /**
   * The documents with any of the words, and in `worthOf` what each word is worth in them. Those with the rarest words
   * come first: once there are enough, a more common word only adds to them. `isComplete`: none was left out.
   */
  async #documents(
    postings: Postings,
    worthOf: Map<number, Map<string, number>>,
  ): Promise<{ documents: Documents; isComplete: boolean }> {
    let isComplete = true;
    const rarestFirst = [...this.terms.keys()]
      .map((term) => ({ term, documents: postings.documents(term) }))
      .sort((left, right) => left.documents - right.documents);
    for (const { term, documents } of rarestFirst) {
      const isEnough = worthOf.size > 0 && worthOf.size + documents > maxDocuments;
      let looked = 0;
      const rare = this.#rarityOf(term, postings);
      for (const { document, times } of postings.of(term)) {
        if (++looked > maxPostings) break;
        if ((looked & 0xfff) === 0) await this.#names.context.pacer.breathe();
        let worth = worthOf.get(document);
        if (worth === undefined && (isEnough || worthOf.size >= maxDocuments)) continue;
        if (worth === undefined) worthOf.set(document, (worth = new Map()));
        worth.set(term, rare * postings.weight(times, postings.length(document)));
      }
      isComplete &&= documents <= maxPostings && !isEnough && worthOf.size < maxDocuments;
    }
    const found: Documents = { numbers: [], worths: [] };
    for (const [document, worth] of worthOf) {
      let sum = 0;
      for (const each of worth.values()) sum += each;
      found.numbers.push(document);
      found.worths.push(sum);
    }
    return { documents: found, isComplete };
  }

  ofConstant(constant: number): Worth {
    let worth = this.#ofConstants.get(constant);
    if (worth === undefined) {
      if (this.#isComplete) return nothing;
      const text = this.#names.context.tenant.facts.dictionary.text(constant);
      this.#ofConstants.set(constant, (worth = this.#worthIn(text, this.#index.constants)));
    }
    return worth;
  }

  /** Of its name and of the names of its declared arguments. */
  ofPredicate(predicate: string): Worth {
    let worth = this.#ofPredicates.get(predicate);
    if (worth !== undefined) return worth;
    const terms = this.#names.termsOfPredicate(predicate);
    const relations = this.#names.relations();
    const shared = [...this.terms.keys()].filter((term) => terms.has(term));
    worth = new Map(
      shared.map((term) => {
        const having = relations.filter((each) =>
          this.#names.termsOfPredicate(each.predicate).has(term),
        ).length;
        return [term, rarity(relations.length, having)];
      }),
    );
    this.#ofPredicates.set(predicate, worth);
    return worth;
  }

  /** Of metadata, or of any other text that is not a constant. */
  ofText(value: unknown): Worth {
    const text = textOf(value);
    return text === '' ? nothing : this.#worthIn(text, this.#index.metadata);
  }

  /**
   * How something with these parts matches; null: it has none of the words. Its worth counts in proportion to how many
   * of the words it has, each by its rarity. `beside`: what words are worth in the neighbours; their words alone make a
   * match only if `isNext`.
   */
  match(parts: readonly Worth[], beside: readonly Beside[] = []): WordMatch | null {
    let [value, covered, total] = [0, 0, 0];
    let isMatch = false;
    const words: string[] = [];
    for (const [word, terms] of this.#words) {
      if (terms.length === 0) continue;
      let best = 0;
      for (const term of terms) for (const part of parts) best = Math.max(best, part.get(term) ?? 0);
      if (best > 0) words.push(word);
      for (const { worth, share, isNext } of beside) {
        const shared = share * terms.reduce((most, term) => Math.max(most, worth.get(term) ?? 0), 0);
        if (shared > 0 && isNext) isMatch = true;
        best = Math.max(best, shared);
      }
      value += best;
      const rare = terms.reduce(
        (least, term) => Math.min(least, this.#rarities.get(term) as number),
        Number.POSITIVE_INFINITY,
      );
      total += rare;
      if (best > 0) covered += rare;
    }
    return words.length > 0 || isMatch ? { value: (value * covered) / total, words } : null;
  }

  #worthIn(text: string, postings: Postings): Map<string, number> {
    const times = new Map<string, number>();
    const terms = termsOf(text);
    for (const term of terms) if (this.terms.has(term)) times.set(term, (times.get(term) ?? 0) + 1);
    const worth = new Map<string, number>();
    for (const [term, count] of times)
      worth.set(
        term,
        this.#rarityOf(term, postings) *
          postings.weight(Math.min(count, 0xff), Math.min(terms.length, 0xffff)),
      );
    return worth;
  }
}

/** The fewest letters of a word that is completed, and the most terms that complete it among constants, metadata and predicates. */
const minTyped = 2;
const maxCompletions = 32;

/** The terms that the last word of a text may become while it is typed; none after white space. */
export async function completionsOf(text: string, names: ViewNames, index: WordIndex): Promise<string[]> {
  const last = wordsOf(text).at(-1);
  if (last === undefined || last.end < text.length || [...last.text].length < minTyped) return [];
  const { pacer } = names.context;
  const found = new Set<string>();
  for (const postings of [index.constants, index.metadata])
    for (const term of await postings.termsStartingWith(last.text, maxCompletions, pacer)) found.add(term);
  const ofPredicates = new Set(
    names.relations().flatMap(({ predicate }) => [...names.termsOfPredicate(predicate)]),
  );
  const starting = [...ofPredicates].filter((term) => term.startsWith(last.text)).sort(compareText);
  for (const term of starting.slice(0, maxCompletions)) found.add(term);
  return [...found];
}
