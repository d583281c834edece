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
 * The relation of a base and recursion at both ends, one row of bits per source:
 *
 *     r(x, y) :- before(x, a), r(a, b), behind(b, y).
 *
 * Semi-naive: the delta of a source is propagated to its predecessors along `before`, a word at a time; bits
 * that are new to a predecessor's middle set are extended along `behind`, bit by bit. So each pair of a
 * source and a middle node is extended once, however many paths lead to it. Sources are processed in
 * topological order, repeatedly if there are cycles.
 */
export class BitsetRecursion extends BitsetRelation {
  protected readonly edges: readonly Edges[];
  readonly #base: Edges;
  readonly #before: Edges;
  readonly #behind: Edges;
  /** By source, during derivation: its targets, its delta, and the middle nodes that have reached it. */
  #made: Words[] = [];
  #delta: Words[] = [];
  #middle: Words[] = [];
  /** Number of sources with a non-empty delta. */
  #open = 0;

  /** The relations are binary, outlive this object and are never renumbered. */
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
    [this.#made, this.#delta, this.#middle] = [[], [], []];
    for (const rows of [this.#made, this.#delta, this.#middle])
      for (let source = 0; source < count; source++) rows.push(noWords);
    this.#open = 0;
    const order = yield* this.#order();
    const { start, to } = this.#base;
    for (let source = 0; source < count; source++) {
      const end = start[source + 1] as number;
      for (let at = start[source] as number; at < end; at++) this.#addTarget(source, to[at] as number);
      if (this.isSliceOver(end - (start[source] as number))) yield;
    }
    while (this.#open > 0)
      for (let at = count - 1; at >= 0 && this.#open > 0; at--) {
        const source = order[at] as number;
        if (this.#delta[source] !== noWords) yield* this.#propagate(source);
        else if (this.isSliceOver(0)) yield;
      }
    for (const words of this.#middle) this.release(words);
    this.#middle = [];
    return this.#made;
  }

  /** The sources in postorder along `before`. Processed backwards, an acyclic graph needs one pass. */
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
        if (this.isSliceOver(0)) yield;
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

  /** Propagates the delta of the source to its predecessors. */
  *#propagate(source: number): Course<void> {
    const delta = this.#delta[source] as Words;
    this.#delta[source] = noWords;
    this.#open--;
    const { start, to } = this.#before;
    const end = start[source + 1] as number;
    for (let at = start[source] as number; at < end; at++) {
      this.#addMiddle(to[at] as number, delta);
      if (this.isSliceOver(delta.length)) yield;
    }
    this.release(delta);
  }

  /** Adds middle nodes to a source and extends those that are new to it along `behind`. */
  #addMiddle(source: number, words: Words): void {
    let middle = this.#middle[source] as Words;
    if (middle === noWords) middle = this.#middle[source] = this.copy(noWords);
    for (let word = 0; word < words.length; word++) {
      const bits = words[word] as number;
      if (bits === 0) continue;
      const fresh = bits & ~(middle[word] as number);
      if (fresh === 0) continue;
      middle[word] = bits | (middle[word] as number);
      this.#extendBehind(source, word, fresh);
    }
  }

  /** Gives the source the successors, along `behind`, of the bits in this word. */
  #extendBehind(source: number, word: number, bits: number): void {
    const { start, to } = this.#behind;
    for (let left = bits; left !== 0; left &= left - 1) {
      const bit = (word << 5) + bitOf(left);
      const end = start[bit + 1] as number;
      for (let at = start[bit] as number; at < end; at++) this.#addTarget(source, to[at] as number);
    }
  }

  /** Adds a target to a source, and to its delta if it is new. */
  #addTarget(source: number, target: number): void {
    let words = this.#made[source] as Words;
    if (words === noWords) words = this.#made[source] = this.copy(noWords);
    const bit = 1 << (target & 31);
    if (((words[target >>> 5] as number) & bit) !== 0) return;
    set(words, target);
    let delta = this.#delta[source] as Words;
    if (delta === noWords) {
      delta = this.#delta[source] = this.copy(noWords);
      this.#open++;
    }
    set(delta, target);
  }
}
