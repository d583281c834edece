import { gone, tupleAt, Tuples } from '../../store/tuples.ts';
import type { Relation, Table } from './table.ts';
import type { Constants } from './constants.ts';
import { viewKey } from './reader.ts';

/** Rows of a relation in a view that were derived once: candidates for dependents of a change. */
export interface Candidates extends Relation {
  /** The relation's key, without the view. */
  readonly relation: string;
  readonly rows: Tuples;
  /** Only the first `count` rows are meant, without those that `dead` marks as gone. */
  readonly count: number;
  readonly dead: Uint8Array | null;
  /** The table that they were in, null if they come from several. */
  readonly table: (Pick<Table, 'boundPositions'> & { readonly demand: { readonly rows: Tuples } }) | null;
  /** True if they are certainly true now. */
  readonly isCertain: boolean;
}

interface Entry extends Relation {
  readonly relation: string;
  parts: Tuples[];
}

const partsBeforeMerge = 4;

/**
 * Conclusions that were derived once and whose tables are gone; "known dependents" are searched among them.
 *
 * They were true when they were derived and may no longer be; the caller finds out. Rows are added as whole
 * relations that no longer change, and merged only if there are many or when they are read.
 */
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

  /** Those of these relations of which any conclusion is known. */
  *among(relations: ReadonlySet<string>): Generator<string> {
    for (const { relation } of this.#entries.values()) if (relations.has(relation)) yield relation;
  }

  /**
   * The known conclusions of these relations, in every view, in the order in which each relation was first
   * added.
   */
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

  /** Like `of`, and forgets them. */
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
  const tuple = new Int32Array(entry.arity);
  for (const part of entry.parts)
    for (let row = 0; row < part.count; row++)
      if (isCandidate(part, row)) all.insert(tupleAt(part, row, tuple));
  return all;
}

/** True if the row is among the candidates. */
export function isCandidate({ dead }: Pick<Candidates, 'dead'>, row: number): boolean {
  return dead === null || dead[row] !== gone;
}

/**
 * The rows with dictionary ids only: local constants are interned, since these rows outlive the table set.
 * Returns the rows themselves if none are local, with a copy of their current tombstones.
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
