import {
  BitsetRelation,
  type Course,
  Edges,
  noWords,
  or,
  set,
  type Words,
  bitOf,
} from './bitset-relation.ts';
import { bytesToTry } from '../plan/closure-shape.ts';
import type { Derived } from '../model/derived.ts';

/** Whether steps extend the base at its source (`before`) or at its target (`behind`). */
export type ClosureDirection = 'before' | 'behind';

/** Number of sources sampled to estimate how many targets a source has. */
const samples = 32;
/** Beyond `bytesToTry`, a source must have at least this share of all targets on average. */
const minReach = 1 / 16;

/** If fewer than 1 in this many sources changed, the rows are patched. */
const minSourcesPerChange = 4;

/** The SCCs of the step graph: the component of each node, and the row of each component. */
interface Components {
  readonly of: Int32Array;
  readonly rows: readonly Words[];
}

/**
 * The transitive closure of a base by a step, as a bitset relation with one row of bits per source.
 *
 * The step is a graph. Its SCCs are processed in reverse topological order, successors first: the row of a
 * component is the union of the bits of its own nodes and of the rows that its edges lead to, a word at a
 * time. All nodes of a component share one row, and so do sources whose base leads to that component alone.
 * Every change recomputes the closure, unless only the base changed, and little: the cost is words per edge,
 * not per conclusion.
 */
export class BitsetClosure extends BitsetRelation {
  protected readonly edges: readonly Edges[];
  readonly #side: ClosureDirection;
  readonly #base: Edges;
  readonly #step: Edges;
  /** The components for direction `behind`, cached while the step does not change. */
  #components: Components | null = null;

  /** Both relations are binary, outlive this object and are never renumbered. */
  constructor(side: ClosureDirection, base: Derived, step: Derived) {
    super();
    this.#side = side;
    const nodes = side === 'behind' ? this.targets : this.sources;
    this.#base = new Edges(base, [this.sources, this.targets]);
    this.#step = new Edges(step, [nodes, nodes]);
    this.edges = [this.#base, this.#step];
  }

  override isWorthBeginning(): boolean | Course<boolean> {
    return this.#rowBound() * this.width <= bytesToTry || this.#isDense();
  }

  /** An upper bound of the number of rows. */
  #rowBound(): number {
    const nodes = this.#step.start.length - 1;
    if (this.#side === 'before') return nodes;
    const { start } = this.#base;
    let several = 0;
    for (let source = 0; source < this.sources.count; source++)
      if ((start[source + 1] as number) - (start[source] as number) > 1) several++;
    return nodes + several;
  }

  /** True if the sampled sources have, on average, at least `minReach` of all targets. */
  *#isDense(): Course<boolean> {
    const sources = this.sources.count;
    const step = Math.max(1, Math.ceil(sources / samples));
    const wanted = Math.ceil(sources / step) * this.targets.count * minReach;
    let reached = 0;
    for (let source = 0; source < sources && reached < wanted; source += step)
      reached += yield* this.#reachOf(source);
    return reached >= wanted;
  }

  /** Counts the targets of a source by a search along the edges. */
  *#reachOf(source: number): Course<number> {
    const base = this.#base;
    const step = this.#step;
    const nodes = new Uint8Array(step.start.length);
    const targets = this.#side === 'behind' ? nodes : new Uint8Array(this.targets.count);
    const open: number[] = [];
    let [count, walked] = [0, 0];
    const visit = (node: number): void => {
      if (nodes[node] !== 0) return;
      nodes[node] = 1;
      open.push(node);
    };
    const meet = (target: number): void => {
      if (targets[target] === 0) count++;
      if (this.#side === 'behind') visit(target);
      else targets[target] = 1;
    };
    const meetBase = (of: number): void => {
      for (let at = base.start[of] as number; at < (base.start[of + 1] as number); at++)
        meet(base.to[at] as number);
    };
    if (this.#side === 'behind') meetBase(source);
    else visit(source);
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (this.#side === 'before') meetBase(node);
      const end = step.start[node + 1] as number;
      for (let at = step.start[node] as number; at < end; at++)
        if (this.#side === 'behind') meet(step.to[at] as number);
        else visit(step.to[at] as number);
      if (++walked % 1024 === 0) yield;
    }
    return count;
  }

  protected override isPatched(): boolean {
    const { changed } = this.#base;
    return (
      this.#side === 'behind' &&
      this.#components !== null &&
      this.#components.of.length === this.targets.count &&
      this.#step.changed.length === 0 &&
      changed.length * minSourcesPerChange < this.sources.count
    );
  }

  protected override *deriveRows(): Course<readonly Words[]> {
    const components = this.#components;
    if (components !== null && this.isPatched()) return yield* this.#patch(components);
    const found = yield* this.#findComponents();
    const { of, rows } = found;
    const next: Words[] = [];
    if (this.#side === 'before') for (const number of of) next.push(rows[number] as Words);
    else {
      this.#components = found;
      const { start, to } = this.#base;
      for (let source = 0; source < this.sources.count; source++) {
        if (this.isSliceOver(1)) yield;
        next.push(this.#behind(to, start[source] as number, start[source + 1] as number, found));
      }
    }
    return next;
  }

  /** Patches the current rows: recomputes those of sources whose base has changed. */
  *#patch(components: Components): Course<readonly Words[]> {
    const next = this.goOnFromRows();
    for (const row of this.#base.changed) {
      const source = this.#base.numberOf(row, 0);
      const nodes = [...this.#base.otherSides(source)];
      next[source] = this.#behind(nodes, 0, nodes.length, components);
      if (this.isSliceOver(this.width)) yield;
    }
    return next;
  }

  /**
   * The union of the rows of `nodes[start..end)`; shared, not copied, if they all belong to one component.
   */
  #behind(nodes: ArrayLike<number>, start: number, end: number, { of, rows }: Components): Words {
    let words: Words | null = null;
    let isOwn = false;
    for (let at = start; at < end; at++) {
      const row = rows[of[nodes[at] as number] as number] as Words;
      if (words === null) words = row;
      else if (row !== words) {
        if (!isOwn) words = this.copy(words);
        isOwn = true;
        or(words, row);
      }
    }
    return words ?? noWords;
  }

  /** Tarjan's algorithm, iterative: the SCC of each node of the step, and the row of each SCC. */
  *#findComponents(): Course<Components> {
    const { start, to } = this.#step;
    const nodes = start.length - 1;
    const of = new Int32Array(nodes).fill(-1);
    // `order`: 1 + the depth-first number of a node, 0 if unvisited. `low`: the least such number it reaches.
    const order = new Int32Array(nodes);
    const low = new Int32Array(nodes);
    const next = start.slice();
    const rows: Words[] = [];
    const open: number[] = [];
    const path: number[] = [];
    let found = 0;
    for (let root = 0; root < nodes; root++) {
      if (order[root] === 0) path.push(root);
      while (path.length > 0) {
        const node = path[path.length - 1] as number;
        if (order[node] === 0) {
          order[node] = low[node] = ++found;
          open.push(node);
        }
        const at = next[node] as number;
        if (at < (start[node + 1] as number)) {
          next[node] = at + 1;
          const other = to[at] as number;
          if (order[other] === 0) path.push(other);
          else if (of[other] === -1) low[node] = Math.min(low[node] as number, order[other] as number);
          continue;
        }
        path.pop();
        const parent = path[path.length - 1];
        if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[node] as number);
        if (low[node] !== order[node]) continue;
        const members = open.splice(open.lastIndexOf(node));
        for (const member of members) of[member] = rows.length;
        rows.push(yield* this.#component(members, of, rows));
      }
    }
    return { of, rows };
  }

  /** The row of a component: the union of its members' own bits and of the rows that their edges lead to. */
  *#component(members: readonly number[], of: Int32Array, rows: readonly Words[]): Course<Words> {
    const { start, to } = this.#step;
    const base = this.#base;
    const words = this.copy(noWords);
    for (const member of members) {
      if (this.#side === 'behind') set(words, member);
      else
        for (let at = base.start[member] as number; at < (base.start[member + 1] as number); at++)
          set(words, base.to[at] as number);
      const end = start[member + 1] as number;
      for (let at = start[member] as number; at < end; at++) {
        const row = rows[of[to[at] as number] as number];
        if (row === undefined) continue;
        or(words, row);
        if (this.isSliceOver(words.length)) yield;
      }
    }
    return words;
  }
}

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
