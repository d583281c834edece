import type { FactStore } from '../../store/fact-store.ts';
import { tupleAt, Tuples } from '../../store/tuples.ts';
import { renderAtom } from '../../language/print.ts';
import type { Pacer } from '../tables/evaluation.ts';
import { isCandidate } from '../model/known-conclusions.ts';
import type { GroundAtom } from '../explain/proof.ts';
import { isAtomStored, type Reader } from '../model/reader.ts';
import { listOf } from '../model/program.ts';
import type { CachedTable } from './table-cache.ts';

const everything = { kind: 'all' } as const;

/** The number of conclusions that are not stored, and one of them rendered. */
export interface ConclusionCount {
  readonly count: number;
  readonly example: string | null;
}

/**
 * Counts distinct conclusions that are not stored, by the key of their relation, in all views together.
 * Derives nothing: the given rows are a snapshot of one turn, so maintenance may go on meanwhile.
 */
export async function countByRelation(
  tables: readonly CachedTable[],
  reader: Reader,
  pacer: Pacer,
): Promise<Map<string, ConclusionCount>> {
  const byRelation = new Map<string, CachedTable[]>();
  for (const each of tables) listOf(byRelation, each.table.relation).push(each);
  const found = new Map<string, ConclusionCount>();
  const { dictionary } = reader.facts;
  for (const [relation, tables] of byRelation)
    found.set(relation, await countRows(tables, (id) => dictionary.text(id), reader, pacer));
  return found;
}

/** `countByRelation` for the tables of one relation; `textOf` gives the text of an id in them. */
export async function countRows(
  tables: readonly CachedTable[],
  textOf: (id: number) => string,
  reader: Reader,
  pacer: Pacer,
): Promise<ConclusionCount> {
  let example: string | null = null;
  let counted = 0;
  let seen: Tuples | null = null;
  for (const { table, rows, count, dead } of tables) {
    const { predicate, arity, negated } = table;
    // Rows of one table are distinct.
    if (tables.length > 1) seen ??= new Tuples(arity);
    const tuple = new Int32Array(arity);
    for (let row = 0; row < count; row++) {
      if ((row & 0x3ff) === 0x3ff) await pacer.breathe();
      if (!isCandidate({ dead }, row)) continue;
      tupleAt(rows, row, tuple);
      if ((seen !== null && seen.insert(tuple) < 0) || isAtomStored(reader, everything, table, tuple))
        continue;
      counted++;
      example ??= renderAtom({ predicate, args: Array.from(tuple, textOf), negated });
    }
  }
  return { count: counted, example };
}

/**
 * Counts of conclusions by relation, cached until a change affects them.
 *
 * `begin` starts a count, `end` stores it, unless `forget` came in between: what was counted is then out of
 * date.
 */
export class CountCache {
  readonly #entries = new Map<string, ConclusionCount | 'begun' | 'too much'>();

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** The counted relations, by key. */
  *[Symbol.iterator](): Generator<readonly [string, ConclusionCount]> {
    for (const [relation, entry] of this.#entries) if (typeof entry === 'object') yield [relation, entry];
  }

  /** True if it was counted, or found too large to count. */
  isSettled(relation: string): boolean {
    const entry = this.#entries.get(relation);
    return entry !== undefined && entry !== 'begun';
  }

  begin(relation: string): void {
    this.#entries.set(relation, 'begun');
  }

  /** Stores the result of the count that was begun. */
  end(relation: string, came: ConclusionCount | 'too much'): void {
    if (this.#entries.get(relation) === 'begun') this.#entries.set(relation, came);
  }

  /** Called in the turn in which something changes on which these relations depend. */
  forget(relations: Iterable<string>): void {
    for (const relation of relations) this.#entries.delete(relation);
  }
}

const maxDependentsMs = 1000;
const goalsAtOnce = 256;

/**
 * Those of the conclusions in these tables, rendered, whose canonical proof uses the stored fact, as many as
 * are found within a second. `dependentsOf` finds them among a batch of goals.
 */
export async function provedBy(
  tables: readonly CachedTable[],
  { facts }: Reader,
  pacer: Pacer,
  dependentsOf: (goals: GroundAtom[]) => Promise<Iterable<string>>,
): Promise<Set<string>> {
  const used = new Set<string>();
  for (const each of tables)
    for (let at = 0; at < each.count && pacer.elapsedMs < maxDependentsMs; at += goalsAtOnce) {
      const goals = goalsOf(each, facts, at, Math.min(each.count, at + goalsAtOnce));
      for (const atom of await dependentsOf(goals)) used.add(atom);
    }
  return used;
}

/** The rows from `start` to `end` of a table as atoms. */
function goalsOf(
  { table, rows, dead }: CachedTable,
  facts: FactStore,
  start: number,
  end: number,
): GroundAtom[] {
  const { view, predicate, arity, negated } = table;
  const tuple = new Int32Array(arity);
  const goals: GroundAtom[] = [];
  for (let row = start; row < end; row++) {
    if (!isCandidate({ dead }, row)) continue;
    const args = Array.from(tupleAt(rows, row, tuple), (id) => facts.dictionary.text(id));
    goals.push({ view, literal: { predicate, args, negated, naf: false } });
  }
  return goals;
}
