import {
  BitsetRelation,
  bitOf,
  bytesToTry,
  type Course,
  Edges,
  noWords,
  set,
  type Words,
} from './bitset-relation.ts';
import type { Derived } from '../model/derived.ts';

/**
 * The relation that a base and recursion at both ends come to, one row of bits for each source:
 *
 *     r(x, y) :- before(x, a), r(a, b), behind(b, y).
 *
 * Semi-naive: the bits that a source got since it was last looked at go to the sources before it, a word at a time, and
 * what has not come to one of those before goes on behind, bit by bit. So a pair of a source and what is in the middle is
 * gone on from once, however many ways lead to it. Sources are gone over in topological order, again and again where there
 * are cycles.
 */
export class BitsetRecursion extends BitsetRelation {
  protected readonly edges: readonly Edges[];
  readonly #base: Edges;
  readonly #before: Edges;
  readonly #behind: Edges;
  /** By source, while rows are derived: its targets, those not gone on from, and what came to it for the middle. */
  #made: Words[] = [];
  #news: Words[] = [];
  #middle: Words[] = [];
  /** How many sources have news. */
  #open = 0;

  /** The relations have two arguments and outlive this; their rows are never renumbered. */
  constructor(base: Derived, before: Derived, behind: Derived) {
    super();
    this.#base = new Edges(base, [this.sources, this.targets]);
    this.#before = new Edges(before, [this.sources, this.sources], 1);
    this.#behind = new Edges(behind, [this.targets, this.targets]);
    this.edges = [this.#base, this.#before, this.#behind];
  }

  override isWorthBeginning(): boolean {
    return this.sources.count * this.width <= bytesToTry;
  }

  protected override *deriveRows(): Course<readonly Words[]> {
    const { count } = this.sources;
    [this.#made, this.#news, this.#middle] = [[], [], []];
    for (const rows of [this.#made, this.#news, this.#middle])
      for (let source = 0; source < count; source++) rows.push(noWords);
    this.#open = 0;
    const order = yield* this.#order();
    const { start, to } = this.#base;
    for (let source = 0; source < count; source++) {
      const end = start[source + 1] as number;
      for (let at = start[source] as number; at < end; at++) this.#meet(source, to[at] as number);
      if (this.isMomentOver(end - (start[source] as number))) yield;
    }
    while (this.#open > 0)
      for (let at = count - 1; at >= 0 && this.#open > 0; at--) {
        const source = order[at] as number;
        if (this.#news[source] !== noWords) yield* this.#goOn(source);
        else if (this.isMomentOver(0)) yield;
      }
    for (const words of this.#middle) this.release(words);
    this.#middle = [];
    return this.#made;
  }

  /** The sources in postorder along the steps before them: backwards, without cycles, what comes to one is there in its turn. */
  *#order(): Course<Int32Array> {
    const { start, to } = this.#before;
    const { count } = this.sources;
    const order = new Int32Array(count);
    const next = start.slice();
    const isFound = new Uint8Array(count);
    const path: number[] = [];
    let ended = 0;
    for (let root = 0; root < count; root++) {
      if (isFound[root] !== 0) continue;
      isFound[root] = 1;
      path.push(root);
      for (let source = root; path.length > 0; source = path[path.length - 1] as number) {
        if (this.isMomentOver(0)) yield;
        const at = next[source] as number;
        if (at === start[source + 1]) order[ended++] = path.pop() as number;
        else {
          next[source] = at + 1;
          const other = to[at] as number;
          if (isFound[other] !== 0) continue;
          isFound[other] = 1;
          path.push(other);
        }
      }
    }
    return order;
  }

  /** Takes the news of the source to those before it. */
  *#goOn(source: number): Course<void> {
    const news = this.#news[source] as Words;
    this.#news[source] = noWords;
    this.#open--;
    const { start, to } = this.#before;
    const end = start[source + 1] as number;
    for (let at = start[source] as number; at < end; at++) {
      this.#comeTo(to[at] as number, news);
      if (this.isMomentOver(news.length)) yield;
    }
    this.release(news);
  }

  /** The source has these in the middle: goes on behind from those that it had not. */
  #comeTo(source: number, words: Words): void {
    let middle = this.#middle[source] as Words;
    if (middle === noWords) middle = this.#middle[source] = this.copy(noWords);
    for (let word = 0; word < words.length; word++) {
      const bits = words[word] as number;
      if (bits === 0) continue;
      const fresh = bits & ~(middle[word] as number);
      if (fresh === 0) continue;
      middle[word] = bits | (middle[word] as number);
      this.#goOnBehind(source, word, fresh);
    }
  }

  /** The source has what follows the bits of this word. */
  #goOnBehind(source: number, word: number, bits: number): void {
    const { start, to } = this.#behind;
    for (let left = bits; left !== 0; left &= left - 1) {
      const bit = (word << 5) + bitOf(left);
      const end = start[bit + 1] as number;
      for (let at = start[bit] as number; at < end; at++) this.#meet(source, to[at] as number);
    }
  }

  #meet(source: number, target: number): void {
    let words = this.#made[source] as Words;
    if (words === noWords) words = this.#made[source] = this.copy(noWords);
    const bit = 1 << (target & 31);
    if (((words[target >>> 5] as number) & bit) !== 0) return;
    set(words, target);
    let news = this.#news[source] as Words;
    if (news === noWords) {
      news = this.#news[source] = this.copy(noWords);
      this.#open++;
    }
    set(news, target);
  }
}
