import { present } from '../../base/assert.ts';
import { IntBlocks } from '../../store/int-blocks.ts';
import type { MemoryMeter } from '../../store/memory-meter.ts';
import { type Derived, type JustifiedRun, type RunPremise, Support } from './derived.ts';

/** At most this much garbage is always left. */
const minGarbage = 10_000;
// Edges processed between two calls of `breathe`.
const edgesBetweenBreaths = 0x1_0000;
/** Fewer rows are justified one by one. */
const minRowsOfRun = 4;
/** Yields to other tasks if it is time to; rejects if a limit is exceeded. */
type Breathe = () => Promise<void>;

/**
 * One justification for every derived row, so that a change costs in proportion to what it affects.
 *
 * A row's justification is the rows and stored facts that a rule joined when the row was derived, revived or
 * given a lesser height. It is set only from rows alive at that moment, so justifications are well-founded:
 * no row supports itself, even indirectly. Stored are the reverse edges: each premise has a chain of the rows
 * that it supports. A row that gets a new justification leaves its old edges in those chains; they are
 * recognized as older than the row's `since`, and `compact` drops them when they may be the majority.
 *
 * Rows that are copied many at a time have their justifications as a run, which is written as edges when a change first asks for
 * dependents, or justifies one of the rows again: most answers are never maintained.
 *
 * Stored facts appear under their number, which survives versions and compaction. Demand is not a premise: it
 * only grows. Dependencies on negation and aggregates have no edges: `Watcher`s find the rows that a change
 * affects, through rows that wait in a relation of their own (`BodyCompiler`) or by joins.
 */
export class Justifications {
  readonly supports: Support[] = [];
  count = 0;
  /**
   * Edges that may no longer belong to a justification: added by maintenance, which justifies the same rows
   * again and again, or for rows that were dropped.
   */
  garbage = 0;
  #edges: SupportEdges;
  /** Relations that have runs; dropped relations may have lost theirs. */
  readonly #withRuns = new Set<Support>();
  /** By the number of a stored fact: 1 + the newest edge from it as a premise. */
  readonly #facts: IntBlocks;
  readonly #memory: MemoryMeter | null;

  /** `memory`: what they ask before they grow. */
  constructor(memory: MemoryMeter | null = null) {
    this.#memory = memory;
    this.#edges = new SupportEdges(memory);
    this.#facts = new IntBlocks(memory);
  }

  get bytes(): number {
    let bytes = this.#edges.bytes + this.#facts.bytes;
    for (const support of this.supports) bytes += support.bytes;
    return bytes;
  }

  /**
   * Starts maintaining justifications of the relation's rows; `lost` is called for those that a change of
   * facts deletes.
   */
  track(derived: Derived, lost: ((row: number) => void) | null): void {
    derived.support = new Support(derived, this.supports.length, lost, this.#memory);
    this.supports.push(derived.support);
  }

  /** Justifies the last rows of the relation, which are new, from `first` on. The premises' arrays are the run's from then on. */
  justifyNew(target: Support, first: number, premises: readonly RunPremise[]): void {
    const count = target.derived.rows.count - first;
    const run = { first, count, premises };
    if (count < minRowsOfRun) this.#write(target, run, 0, count);
    else {
      target.addRun(run);
      this.#withRuns.add(target);
    }
  }

  /** Writes all runs as edges. Requires exclusive access. */
  async writeRuns(breathe: Breathe): Promise<void> {
    for (const _step of this.#runsInSteps()) await breathe();
  }

  #writeRunsAtOnce(): void {
    for (const _step of this.#runsInSteps());
  }

  *#runsInSteps(): Generator<undefined, undefined, undefined> {
    for (const target of this.#withRuns)
      for (let run = target.runs[0]; run !== undefined; run = target.runs[0]) {
        for (let at = 0; at < run.count; at += edgesBetweenBreaths) {
          this.#write(target, run, at, Math.min(run.count, at + edgesBetweenBreaths));
          yield;
        }
        target.endRun();
      }
    this.#withRuns.clear();
  }

  #write(target: Support, { first, premises }: JustifiedRun, from: number, to: number): void {
    const current = premises.filter(({ support, epoch }) => support === null || support.epoch === epoch);
    for (let at = from; at < to; at++) {
      const row = first + at;
      target.since.set(row, this.count);
      for (const { support, numbers } of current) {
        const number = numberAt(numbers, at);
        if (support === null) this.addFact(number, target, row);
        else this.add(support, number, target, row);
      }
    }
  }

  /** Begins the justification of a row and invalidates its previous one. `add` follows for every premise. */
  begin(support: Support, row: number): void {
    if (row < support.endOfRuns) this.#writeRunsAtOnce();
    support.since.set(row, this.count);
  }

  /** Adds a row as a premise of the given row. */
  add(premise: Support, premiseRow: number, target: Support, row: number): void {
    premise.heads.set(premiseRow, this.#edge(target, row, premise.heads.at(premiseRow)));
  }

  /** Adds a stored fact as a premise of the given row. */
  addFact(number: number, target: Support, row: number): void {
    this.#facts.set(number, this.#edge(target, row, this.#facts.at(number)));
  }

  /** Visits the live rows that the row supports. */
  dependents(support: Support, row: number, visit: (target: Support, row: number) => void): void {
    if (this.#withRuns.size > 0) this.#writeRunsAtOnce();
    this.#walk(support.heads.at(row), visit);
  }

  /** Visits the live rows that the stored fact supports. */
  dependentsOfFact(number: number, visit: (target: Support, row: number) => void): void {
    if (this.#withRuns.size > 0) this.#writeRunsAtOnce();
    this.#walk(this.#facts.at(number), visit);
  }

  #walk(first: number, visit: (target: Support, row: number) => void): void {
    const edges = this.#edges;
    for (let next = first; next !== 0; ) {
      const edge = next - 1;
      const row = edges.row(edge);
      next = edges.older(edge);
      const target = this.#supported(edge);
      if (target !== null) visit(target, row);
    }
  }

  /** True if `compact` pays: its total cost stays in proportion to the edges ever added. */
  get needsCompaction(): boolean {
    return this.garbage > Math.max(minGarbage, this.count / 2, this.#facts.length / 8);
  }

  /**
   * Drops support edges of deleted tuples. Requires a fixpoint and exclusive access; if it ends early, by a
   * limit, the table set must not be used again.
   */
  async compact(breathe: Breathe): Promise<void> {
    await this.writeRuns(breathe);
    const { moved, keptCount } = await this.#movedEdges(breathe);
    const edges = new SupportEdges(this.#memory);
    for (let edge = 0; edge < keptCount; edge++) {
      edges.put(edge, 0, 0, 0);
      if (edge % edgesBetweenBreaths === 0) await breathe();
    }
    await this.#moveChains(this.#facts, moved, edges, breathe);
    for (const support of this.supports) await this.#moveChains(support.heads, moved, edges, breathe);
    for (const support of this.supports) await this.#moveRows(support, moved, breathe);
    this.#memory?.free(this.#edges.bytes);
    this.#edges = edges;
    this.count = keptCount;
    this.garbage = 0;
  }

  /** By edge: 1 + its new number, 0 for those to drop. */
  async #movedEdges(breathe: Breathe): Promise<{ readonly moved: Int32Array; readonly keptCount: number }> {
    const moved = new Int32Array(this.count);
    let keptCount = 0;
    for (const support of this.supports) support.edges = 0;
    for (let edge = 0; edge < moved.length; edge++) {
      if (edge % edgesBetweenBreaths === 0) await breathe();
      const target = this.#supported(edge);
      if (target === null) continue;
      target.edges++;
      moved[edge] = ++keptCount;
    }
    return { moved, keptCount };
  }

  /** Rewrites the chains that begin at these heads without the dropped edges. */
  async #moveChains(
    heads: IntBlocks,
    moved: Int32Array,
    edges: SupportEdges,
    breathe: Breathe,
  ): Promise<void> {
    let walked = 0;
    for (let premise = 0; premise < heads.length; premise++) {
      let newer = -1;
      let next = heads.at(premise);
      if (next !== 0) heads.set(premise, 0);
      if (++walked % edgesBetweenBreaths === 0) await breathe();
      while (next !== 0) {
        if (++walked % edgesBetweenBreaths === 0) await breathe();
        const from = next - 1;
        const to = moved[from] as number;
        next = this.#edges.older(from);
        if (to === 0) continue;
        if (newer < 0) heads.set(premise, to);
        else edges.setOlder(newer, to);
        newer = to - 1;
        edges.put(newer, this.#edges.relation(from), this.#edges.row(from), 0);
      }
    }
  }

  /** Moves the beginning of each justification to the new number of its first edge. */
  async #moveRows({ since, derived }: Support, moved: Int32Array, breathe: Breathe): Promise<void> {
    const count = Math.min(since.length, derived.rows.count);
    for (let row = 0; row < count; row++) {
      if (row % edgesBetweenBreaths === 0) await breathe();
      since.set(row, Math.max(0, (moved[since.at(row)] ?? 0) - 1));
    }
  }

  /** The relation whose live row the edge supports; null if there is no such row. */
  #supported(edge: number): Support | null {
    const target = present(this.supports[this.#edges.relation(edge)], 'a edge has its relation');
    const row = this.#edges.row(edge);
    const { rows } = target.derived;
    return row < rows.count && edge >= target.since.at(row) && !rows.isDead(row) ? target : null;
  }

  /** Adds an edge. Returns 1 + its number. */
  #edge(target: Support, row: number, older: number): number {
    this.#edges.put(this.count, target.number, row, older);
    target.edges++;
    return ++this.count;
  }
}

function numberAt(numbers: RunPremise['numbers'], at: number): number {
  if (typeof numbers === 'number') return numbers;
  return numbers instanceof Int32Array ? (numbers[at] as number) : numbers.at + at;
}

const blockBits = 14;
const edgesInBlock = 1 << blockBits;

/**
 * The edges, three numbers each: the relation and the row that the edge supports, and 1 + the next older edge
 * of the same premise. Stored in blocks, so that hundreds of megabytes are never copied.
 */
class SupportEdges {
  readonly #blocks: Int32Array[] = [];
  readonly #memory: MemoryMeter | null;
  bytes = 0;

  constructor(memory: MemoryMeter | null) {
    this.#memory = memory;
  }

  relation(edge: number): number {
    return this.#blockOf(edge)[(edge & (edgesInBlock - 1)) * 3] as number;
  }

  row(edge: number): number {
    return this.#blockOf(edge)[(edge & (edgesInBlock - 1)) * 3 + 1] as number;
  }

  older(edge: number): number {
    return this.#blockOf(edge)[(edge & (edgesInBlock - 1)) * 3 + 2] as number;
  }

  setOlder(edge: number, older: number): void {
    this.#blockOf(edge)[(edge & (edgesInBlock - 1)) * 3 + 2] = older;
  }

  /** Writes an edge, an existing one or the next. */
  put(edge: number, relation: number, row: number, older: number): void {
    const at = (edge & (edgesInBlock - 1)) * 3;
    let block = this.#blocks[edge >>> blockBits];
    if (block === undefined || at >= block.length) block = this.#grow(edge >>> blockBits, at);
    block[at] = relation;
    block[at + 1] = row;
    block[at + 2] = older;
  }

  #blockOf(edge: number): Int32Array {
    return this.#blocks[edge >>> blockBits] as Int32Array;
  }

  /** Only the first block starts small: many table sets have few justifications. */
  #grow(number: number, at: number): Int32Array {
    const old = this.#blocks[number] ?? new Int32Array(0);
    const edges = number > 0 ? edgesInBlock : Math.min(edgesInBlock, Math.max(16, (at / 3) * 2));
    this.#memory?.take(edges * 12 - old.byteLength);
    const block = new Int32Array(edges * 3);
    block.set(old);
    this.#blocks[number] = block;
    this.bytes += block.byteLength - old.byteLength;
    return block;
  }
}
