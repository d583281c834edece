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
  readonly #index: WordIndex;
  readonly #names: ViewNames;
  readonly #ofConstants = new Map<number, Worth>();
  readonly #ofPredicates = new Map<string, Worth>();

  constructor(text: string, names: ViewNames, index: WordIndex) {
    const words = wordsOf(text).map((word) => word.text);
    const telling = words.filter((word) => !isStopWord(word));
    this.terms = new Map((telling.length > 0 ? telling : words).map((word) => [stemOf(word), word]));
    this.#names = names;
    this.#index = index;
  }

  /** The constants with any of the words and what each is worth in all. Yields to others now and then. */
  constants(): Promise<Documents> {
    return this.#documents(this.#index.constants);
  }

  /** The same for the rows with metadata, by document. */
  metadata(): Promise<Documents> {
    return this.#documents(this.#index.metadata);
  }

  /**
   * The documents with any of the words. Those with the rarest words come first: once there are enough, a more common
   * word only adds to them.
   */
  async #documents(postings: Postings): Promise<Documents> {
    const places = new Map<number, number>();
    const found: Documents = { numbers: [], worths: [] };
    const rarestFirst = [...this.terms.keys()]
      .map((term) => ({ term, documents: postings.documents(term) }))
      .sort((left, right) => left.documents - right.documents);
    for (const { term, documents } of rarestFirst) {
      const isEnough = places.size > 0 && places.size + documents > maxDocuments;
      let looked = 0;
      for (const { document, times } of postings.of(term)) {
        if (++looked > maxPostings) break;
        if ((looked & 0xfff) === 0) await this.#names.context.pacer.breathe();
        const place = places.get(document);
        if (place === undefined && (isEnough || places.size >= maxDocuments)) continue;
        const worth = postings.worth(term, times, postings.length(document));
        if (place === undefined) {
          places.set(document, found.numbers.push(document) - 1);
          found.worths.push(worth);
        } else found.worths[place] = (found.worths[place] as number) + worth;
      }
    }
    return found;
  }

  ofConstant(constant: number): Worth {
    let worth = this.#ofConstants.get(constant);
    if (worth === undefined) {
      const text = this.#names.context.tenant.facts.dictionary.text(constant);
      this.#ofConstants.set(constant, (worth = this.#worthIn(text, this.#index.constants)));
    }
    return worth;
  }

  ofPredicate(predicate: string): Worth {
    let worth = this.#ofPredicates.get(predicate);
    if (worth !== undefined) return worth;
    const terms = new Set(termsOf(predicate));
    const relations = this.#names.relations();
    const shared = [...this.terms.keys()].filter((term) => terms.has(term));
    worth = new Map(
      shared.map((term) => {
        const having = relations.filter((each) => termsOf(each.predicate).includes(term)).length;
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

  /** How something with these parts matches; null: it has none of the words. */
  match(parts: readonly Worth[]): WordMatch | null {
    let value = 0;
    const words: string[] = [];
    for (const [term, word] of this.terms) {
      const best = parts.reduce((most, part) => Math.max(most, part.get(term) ?? 0), 0);
      if (best === 0) continue;
      value += best;
      words.push(word);
    }
    return words.length === 0 ? null : { value, words };
  }

  #worthIn(text: string, postings: Postings): Worth {
    const times = new Map<string, number>();
    const terms = termsOf(text);
    for (const term of terms) if (this.terms.has(term)) times.set(term, (times.get(term) ?? 0) + 1);
    if (times.size === 0) return nothing;
    const worth = new Map<string, number>();
    for (const [term, count] of times)
      worth.set(term, postings.worth(term, Math.min(count, 0xff), Math.min(terms.length, 0xffff)));
    return worth;
  }
}
