import { compareText } from '../base/text-order.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { Dictionary } from '../store/dictionary.ts';
import { SortedTerms } from './sorted-terms.ts';

/** Terms of a document after this one are not indexed: 64 KiB of words have fewer. */
const maxTerms = 0xffff;
const maxTimes = 0xff;

/** A document that has a term. */
export interface Posting {
  readonly document: number;
  /** How often the document has the term, at most 255. */
  readonly times: number;
}

/**
 * An inverted index: the documents that have a term. Documents are numbered from 0 on, and never change.
 *
 * The terms lie in a dictionary, the postings of each term in a chain of numbers: nine bytes a posting.
 */
export class Postings {
  readonly #terms = new Dictionary();
  readonly #sorted = new SortedTerms(this.#terms);
  /** By term: 1 + its newest posting, and the number of documents that have it. */
  #heads = new Int32Array(64);
  #documents = new Int32Array(64);
  /** By posting: 1 + the next older one of the term. */
  #next = new Int32Array(64);
  #posted = new Int32Array(64);
  #times = new Uint8Array(64);
  /** By document: its number of terms. */
  #lengths = new Uint16Array(64);
  #postings = 0;
  #totalLength = 0;
  #totalSquares = 0;
  /** Number of documents. */
  count = 0;

  get bytes(): number {
    let bytes = this.#terms.bytes + this.#sorted.bytes;
    for (const column of [this.#heads, this.#documents, this.#next, this.#posted, this.#times, this.#lengths])
      bytes += column.byteLength;
    return bytes;
  }

  /**
   * The number of terms of the document in which a term lies, in the mean: names, of which there may be many more than
   * texts, hardly count.
   */
  get meanLength(): number {
    return this.#totalSquares / Math.max(1, this.#totalLength);
  }

  /** Adds the next document. */
  add(terms: readonly string[]): void {
    const document = this.count++;
    const times = new Map<string, number>();
    const length = Math.min(terms.length, maxTerms);
    for (let at = 0; at < length; at++) {
      const term = terms[at] as string;
      times.set(term, (times.get(term) ?? 0) + 1);
    }
    for (const [term, count] of times)
      this.#post(this.#terms.intern(term), document, Math.min(count, maxTimes));
    if (document >= this.#lengths.length) this.#lengths = grown(this.#lengths, new Uint16Array(document * 2));
    this.#lengths[document] = length;
    this.#totalLength += length;
    this.#totalSquares += length * length;
  }

  /** The documents that have this term, newest first. */
  *of(term: string): Generator<Posting> {
    const id = this.#terms.find(term);
    for (let at = id < 0 ? 0 : (this.#heads[id] as number); at !== 0; at = this.#next[at - 1] as number)
      yield { document: this.#posted[at - 1] as number, times: this.#times[at - 1] as number };
  }

  /** The number of documents that have this term. */
  documents(term: string): number {
    const id = this.#terms.find(term);
    return id < 0 ? 0 : (this.#documents[id] as number);
  }

  /** The terms that begin with the prefix: those that most documents have, at most `most`, ties by code point. */
  async termsStartingWith(prefix: string, most: number, pacer: Pacer): Promise<string[]> {
    const found = (await this.#sorted.startingWith(prefix, pacer)).map((term) => ({
      text: this.#terms.text(term),
      documents: this.#documents[term] as number,
    }));
    found.sort((left, right) => right.documents - left.documents || compareText(left.text, right.text));
    return found.slice(0, most).map(({ text }) => text);
  }

  /** The number of terms of a document. */
  length(document: number): number {
    return this.#lengths[document] as number;
  }

  /**
   * How much a document of `length` terms is about a term that it has `times` times, by BM25 (Robertson and Zaragoza
   * 2009) with k1 1.2 and b 0.75, or 0.4 for a document shorter than the mean: little is said in few words. Times the
   * term's rarity it is what the term is worth in the document.
   */
  weight(times: number, length: number): number {
    const relative = length / Math.max(1, this.meanLength);
    const part = relative > 1 ? b : bOfShort;
    return (times * (k1 + 1)) / (times + k1 * (1 - part + part * relative));
  }

  #post(term: number, document: number, times: number): void {
    if (term >= this.#heads.length) {
      this.#heads = grown(this.#heads, new Int32Array(term * 2));
      this.#documents = grown(this.#documents, new Int32Array(term * 2));
    }
    if (this.#postings === this.#next.length) {
      const room = this.#postings * 2;
      this.#next = grown(this.#next, new Int32Array(room));
      this.#posted = grown(this.#posted, new Int32Array(room));
      this.#times = grown(this.#times, new Uint8Array(room));
    }
    const posting = this.#postings++;
    this.#next[posting] = this.#heads[term] as number;
    this.#posted[posting] = document;
    this.#times[posting] = times;
    this.#heads[term] = posting + 1;
    this.#documents[term] = (this.#documents[term] as number) + 1;
  }
}

const k1 = 1.2;
const b = 0.75;
const bOfShort = 0.4;

/** The inverse document frequency of BM25, never negative: of `count` documents `having` have the term. */
export function rarity(count: number, having: number): number {
  return Math.log(1 + (count - having + 0.5) / (having + 0.5));
}

function grown<Column extends { set(from: Column): void }>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
