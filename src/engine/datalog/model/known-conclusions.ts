import { gone, Tuples } from '../../store/tuples.ts';
import type { Relation, Table } from './table.ts';
import type { Constants } from './constants.ts';
import { viewKey } from './reader.ts';

/**
 * Conclusions that were derived once and whose tables are gone: what "known dependents" are looked for among.
 *
 * They held when they were derived and may no longer; who uses them finds out. Rows come in as whole relations
 * that nobody changes any more and are merged only when there are many or someone asks.
 */
export interface Candidates extends Relation {
  /** The relation's key, without the view. */
  readonly relation: string;
  readonly rows: Tuples;
  /** Only the first `count` rows are meant, without those that `dead` says are gone. */
  readonly count: number;
  readonly dead: Uint8Array | null;
  /** The table they stood in, null where they come from several. */
  readonly table: (Pick<Table, 'boundPositions'> & { readonly demand: { readonly rows: Tuples } }) | null;
  /** True where they hold now, for sure. */
  readonly isCertain: boolean;
}

interface Entry extends Relation {
  readonly relation: string;
  parts: Tuples[];
}

const partsBeforeMerge = 4;

export class KnownConclusions {
  readonly #entries = new Map<string, Entry>();

  get bytes(): number {
    let bytes = 0;
    for (const entry of this.#entries.values()) for (const part of entry.parts) bytes += part.bytes;
    return bytes;
  }

  add(of: Relation & { readonly relation: string }, rows: Tuples): void {
    if (rows.live === 0) return;
    const key = `${viewKey(of.view)}\n${of.relation}`;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      const { view, predicate, arity, negated, relation } = of;
      entry = { view, predicate, arity, negated, relation, parts: [] };
      this.#entries.set(key, entry);
    }
    entry.parts.push(rows);
    if (entry.parts.length > partsBeforeMerge) entry.parts = [merged(entry)];
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Of these relations, those that something is known of. */
  *among(relations: ReadonlySet<string>): Generator<string> {
    for (const { relation } of this.#entries.values()) if (relations.has(relation)) yield relation;
  }

  /** What is known of these relations, in every view; in the order in which something of each first became known. */
  of(relations: ReadonlySet<string>): Candidates[] {
    const found: Candidates[] = [];
    for (const entry of this.#entries.values()) {
      if (!relations.has(entry.relation)) continue;
      const rows = merged(entry);
      entry.parts = [rows];
      found.push({ ...entry, rows, count: rows.count, dead: rows.dead, table: null, isCertain: false });
    }
    return found;
  }

  /** As `of`; and forgets it. */
  take(relations: ReadonlySet<string>): Candidates[] {
    const found = this.of(relations);
    for (const [key, { relation }] of this.#entries) if (relations.has(relation)) this.#entries.delete(key);
    return found;
  }

  clear(): void {
    this.#entries.clear();
  }
}

function merged(entry: Entry): Tuples {
  const [only] = entry.parts;
  if (entry.parts.length === 1 && only !== undefined) return only;
  const all = new Tuples(entry.arity);
  for (const part of entry.parts) addAll(all, part, part.count);
  return all;
}

/** True where the row is among the candidates. */
export function isCandidate({ dead }: Pick<Candidates, 'dead'>, row: number): boolean {
  return dead === null || dead[row] !== gone;
}

/**
 * The rows with ids of the dictionary alone: what a set of tables made for itself is interned, since these rows
 * outlive the set. The rows themselves where there is nothing to do, with which of them are dead now.
 */
export function plainRows(rows: Tuples, constants: Constants): Pick<Candidates, 'rows' | 'count' | 'dead'> {
  const { count } = rows;
  if (constants.ownCount === 0) return { rows, count, dead: rows.dead?.slice(0, count) ?? null };
  const plain = new Tuples(rows.arity);
  const tuple = new Int32Array(rows.arity);
  for (let row = 0; row < count; row++) {
    if (!isCandidate(rows, row)) continue;
    tupleAt(rows, row, tuple);
    for (let position = 0; position < tuple.length; position++)
      tuple[position] = constants.plain(tuple[position] as number);
    plain.insert(tuple);
  }
  return { rows: plain, count: plain.count, dead: null };
}

/** Adds the first `count` tuples of `from`. */
function addAll(to: Tuples, from: Tuples, count: number): void {
  const tuple = new Int32Array(from.arity);
  for (let row = 0; row < count; row++) if (isCandidate(from, row)) to.insert(tupleAt(from, row, tuple));
}

/** Reads a row into `tuple`. */
export function tupleAt(rows: Pick<Tuples, 'columns'>, row: number, tuple: Int32Array): Int32Array {
  for (let position = 0; position < tuple.length; position++)
    tuple[position] = (rows.columns[position] as Int32Array)[row] as number;
  return tuple;
}
