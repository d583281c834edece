import { compareText } from '../base/text-order.ts';
import { type FactRow, type FactStore, type FactVersion } from '../store/fact-store.ts';
import { areAlike, sameJson } from '../store/fact-to-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { tupleAt, Tuples } from '../store/tuples.ts';
import type { ArchivedVersions } from '../store/version-archive.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { relationKey } from '../language/terms.ts';
import { differingFields, type MergeConflict, type ScopeFact } from '../contract/scopes.ts';

/**
 * Joins scopes by atom and compares two of them, for diff and merge.
 *
 * One pass over the columns hashes the facts of all sides by their arguments, in id space, without reading text. The
 * result depends on the stored facts alone and follows their column order, so replaying a merge from the log repeats it
 * exactly. A fact belongs to a side if it is stored at one generation and time: facts whose validity has ended are left
 * out, facts whose validity has not begun are included.
 *
 * A merge base is a side too, as of its own generation. Versions of it that died since are in the archive and looked up
 * last, so the join's order is that of live rows on every replica, whatever was compacted.
 */

/** The facts of one predicate and arity on all sides, by atom. */
export class JoinedAtoms {
  readonly predicate: string;
  readonly arity: number;
  readonly atoms: Tuples;
  /** The relations stored as true and as false. */
  readonly relations: [StoredRelation | null, StoredRelation | null] = [null, null];
  readonly #sides: number;
  readonly #archived: [ArchivedVersions | null, ArchivedVersions | null] = [null, null];
  /**
   * By atom, side and truth value: the fact's row, counted from 1; 0: none. Negative: an archived version, counted from
   * -1.
   */
  #rows: Int32Array;

  constructor(predicate: string, arity: number, sides: number) {
    this.predicate = predicate;
    this.arity = arity;
    this.atoms = new Tuples(arity);
    this.#sides = sides;
    this.#rows = new Int32Array(16 * sides * 2);
  }

  get count(): number {
    return this.atoms.count;
  }

  add(relation: StoredRelation, row: number, side: number, args: Int32Array): void {
    tupleAt(relation, row, args);
    const inserted = this.atoms.insert(args);
    const atom = inserted < 0 ? this.atoms.find(args) : inserted;
    this.#put(this.#indexOf(atom, side, relation.negated), row + 1);
  }

  /** Adds an archived version if another side has its atom. */
  addArchived(versions: ArchivedVersions, at: number, side: number, negated: boolean): void {
    const atom = this.atoms.find(versions.argsAt(at));
    if (atom < 0) return;
    this.#archived[negated ? 1 : 0] = versions;
    this.#put(this.#indexOf(atom, side, negated), -1 - at);
  }

  fact(atom: number, side: number, negated: boolean): FactRow | null {
    const relation = this.relations[negated ? 1 : 0];
    const row = (this.#rows[this.#indexOf(atom, side, negated)] ?? 0) - 1;
    return relation === null || row < 0 ? null : { relation, row };
  }

  /** The version on this side, possibly an archived one; null: none. */
  version(facts: FactStore, atom: number, side: number, negated: boolean): FactVersion | null {
    const at = this.#rows[this.#indexOf(atom, side, negated)] ?? 0;
    const archived = this.#archived[negated ? 1 : 0];
    if (at < 0) return archived?.versionAt(-1 - at) ?? null;
    const fact = this.fact(atom, side, negated);
    return fact === null ? null : facts.versionAt(fact);
  }

  #put(at: number, row: number): void {
    if (at >= this.#rows.length) {
      const rows = new Int32Array(Math.max(this.#rows.length * 2, at + 1));
      rows.set(this.#rows);
      this.#rows = rows;
    }
    this.#rows[at] = row;
  }

  #indexOf(atom: number, side: number, negated: boolean): number {
    return (atom * this.#sides + side) * 2 + (negated ? 1 : 0);
  }
}

/** Rows scanned, rows joined and relations begun between two slices. */
const rowsLookedAt = 8192;
const rowsTaken = 512;
const relationsBegun = 1024;

/** A range of a relation's rows. */
interface RowRange {
  readonly relation: StoredRelation;
  readonly start: number;
  readonly end: number;
}

/** The relation's rows up to this generation, in ranges for one slice each. */
function* rangesOf(relation: StoredRelation, generation: number): Generator<RowRange> {
  const count = relation.rowsAt(generation);
  for (let start = 0; start < count; start += rowsLookedAt)
    yield { relation, start, end: Math.min(count, start + rowsLookedAt) };
}

/** Relations with rows of these scopes, in an order that is the same on every replica. */
function* relationsOf(
  facts: FactStore,
  scopes: readonly number[],
  generation: number,
): Generator<'more', StoredRelation[], undefined> {
  const found: StoredRelation[] = [];
  let begun = 0;
  for (const relation of facts.relations.values()) {
    if (++begun % relationsBegun === 0) yield 'more';
    for (const part of rangesOf(relation, generation)) {
      if (part.start > 0) yield 'more';
      if (!hasRowOf(part, scopes)) continue;
      found.push(relation);
      break;
    }
  }
  return found.sort(
    (left, right) =>
      compareText(left.predicate, right.predicate) ||
      left.arity - right.arity ||
      Number(left.negated) - Number(right.negated),
  );
}

function hasRowOf({ relation, start, end }: RowRange, scopes: readonly number[]): boolean {
  const column = relation.columns[relation.arity] as Int32Array;
  for (let row = start; row < end; row++) if (scopes.includes(column[row] as number)) return true;
  return false;
}

/** The facts stored in this scope at this generation and time, by relation and row. */
export function* factsOfScope(
  facts: FactStore,
  scope: number,
  generation: number,
  time: number,
): Generator<'more' | FactRow, void, undefined> {
  for (const relation of yield* relationsOf(facts, [scope], generation))
    for (const { start, end } of rangesOf(relation, generation)) {
      if (start > 0) yield 'more';
      // Read again in every slice: growing replaces a column.
      const column = relation.columns[relation.arity] as Int32Array;
      for (let row = start; row < end; row++)
        if (column[row] === scope && relation.isHeld(row, generation, time)) yield { relation, row };
    }
}

/** The generation and time at which facts are read. */
export interface ReadMoment {
  readonly generation: number;
  readonly time: number;
}

/** The base of a merge: the facts of a scope as of a generation, from live rows and archived versions. */
export interface BaseOfMerge {
  readonly scope: number;
  readonly generation: number;
  readonly archive: FactStore['archive'];
}

/** Joins the facts of these scopes, given by number; -1 is an empty side. The base, if any, is the last side. */
export function* joinScopes(
  facts: FactStore,
  sides: readonly number[],
  { generation, time }: ReadMoment,
  base: BaseOfMerge | null = null,
): Generator<'more', JoinedAtoms[], undefined> {
  const joined: JoinedAtoms[] = [];
  let left = rowsTaken;
  const scopes = base === null ? sides : [...sides, base.scope];
  for (const relation of yield* relationsOf(facts, scopes, generation)) {
    const { predicate, arity, negated } = relation;
    let atoms = joined.at(-1);
    if (atoms === undefined || atoms.predicate !== predicate || atoms.arity !== arity) {
      atoms = new JoinedAtoms(predicate, arity, scopes.length);
      joined.push(atoms);
    }
    atoms.relations[negated ? 1 : 0] = relation;
    const args = new Int32Array(arity);
    for (const { start, end } of rangesOf(relation, generation)) {
      if (start > 0) yield 'more';
      for (let row = start; row < end; row++) {
        const scope = (relation.columns[arity] as Int32Array)[row] as number;
        if (!scopes.includes(scope) || !relation.isHeld(row, generation, time)) continue;
        if (--left === 0) {
          left = rowsTaken;
          yield 'more';
        }
        for (const [side, wanted] of sides.entries())
          if (wanted === scope) atoms.add(relation, row, side, args);
        if (base?.scope === scope && relation.bornIn(row) <= base.generation)
          atoms.add(relation, row, sides.length, args);
      }
    }
  }
  if (base !== null) for (const atoms of joined) yield* joinArchived(atoms, base, sides.length, time);
  return joined;
}

/** Adds versions of the base that died since its generation. */
function* joinArchived(
  atoms: JoinedAtoms,
  { scope, generation, archive }: BaseOfMerge,
  side: number,
  time: number,
): Generator<'more', void, undefined> {
  for (const negated of [false, true]) {
    const versions = archive.get(relationKey(atoms.predicate, atoms.arity, negated));
    const count = versions?.count ?? 0;
    for (let at = 0; at < count; at++) {
      if (at % rowsLookedAt === rowsLookedAt - 1) yield 'more';
      if (versions === undefined || versions.scopeAt(at) !== scope) continue;
      if (!versions.wasAlive(at, generation) || (versions.untils[at] as number) <= time) continue;
      atoms.addArchived(versions, at, side, negated);
    }
  }
}

/** Indexes of the sides of a comparison. */
export const sourceSide = 0;
export const targetSide = 1;
export const baseSide = 2;

/**
 * A difference between source and target: a fact on one side only, or two differing facts. At least one side is set.
 */
export interface Difference {
  readonly atoms: JoinedAtoms;
  readonly atom: number;
  readonly source: FactRow | null;
  readonly target: FactRow | null;
  /** The two facts are of different atoms, and have the same value of a declared key. */
  readonly isOfKey?: true;
}

/** A field in which two versions of a fact can differ. */
type DifferingField = (typeof differingFields)[number];

/** Calls `differs` with each difference in join order; returns the number of facts alike on both sides. */
export function* compareSides(
  facts: FactStore,
  joined: readonly JoinedAtoms[],
  differs: (difference: Difference) => void,
): Generator<'more', number, undefined> {
  let unchanged = 0;
  let left = rowsTaken;
  for (const atoms of joined)
    for (let atom = 0; atom < atoms.count; atom++) {
      if (--left === 0) {
        left = rowsTaken;
        yield 'more';
      }
      const source = [atoms.fact(atom, sourceSide, false), atoms.fact(atom, sourceSide, true)];
      const target = [atoms.fact(atom, targetSide, false), atoms.fact(atom, targetSide, true)];
      for (const sign of [0, 1]) {
        const [one, other] = [source[sign], target[sign]];
        if (!isFact(one) || !isFact(other)) continue;
        if (areAlike(facts.versionAt(one), facts.versionAt(other))) unchanged++;
        else differs({ atoms, atom, source: one, target: other });
        source[sign] = null;
        target[sign] = null;
      }
      // If both sides have facts left, each has exactly one.
      const [restOfSource, restOfTarget] = [source.filter(isFact), target.filter(isFact)];
      if (restOfSource.length === 1 && restOfTarget.length === 1)
        differs({ atoms, atom, source: restOfSource[0] ?? null, target: restOfTarget[0] ?? null });
      else {
        for (const fact of restOfSource) differs({ atoms, atom, source: fact, target: null });
        for (const fact of restOfTarget) differs({ atoms, atom, source: null, target: fact });
      }
    }
  return unchanged;
}

/** The fields in which a pair differs, in the contract's order; empty if one side is missing. */
export function fieldsThatDiffer(
  facts: FactStore,
  { source, target, isOfKey }: Pick<Difference, 'source' | 'target' | 'isOfKey'>,
): DifferingField[] {
  if (isOfKey === true) return ['key'];
  if (source === null || target === null) return [];
  const [one, other] = [facts.versionAt(source), facts.versionAt(target)];
  const differ: Record<DifferingField, boolean> = {
    truthVal: source.relation.negated !== target.relation.negated,
    validFrom: one.from !== other.from,
    validUntil: one.until !== other.until,
    metadata: !sameJson(one.metadata, other.metadata),
    key: false,
  };
  return differingFields.filter((field) => differ[field]);
}

function isFact(fact: FactRow | null | undefined): fact is FactRow {
  return fact !== null && fact !== undefined;
}

/** A stored fact as diffs and conflicts show it. */
export function scopeFact(facts: FactStore, fact: FactRow, names: ArgumentNames | null = null): ScopeFact {
  const { from, until, metadata } = facts.versionAt(fact);
  const args = facts.argsOf(fact);
  return {
    id: facts.idOf(fact),
    ...facts.identityOf(fact),
    args,
    ...names?.part(fact.relation.predicate, args),
    validFrom: Number.isFinite(from) ? from : null,
    validUntil: Number.isFinite(until) ? until : null,
    metadata: metadata ?? {},
  };
}

/** Conflicts for an answer, in slices, ordered by predicate and arguments by code point, true before false. */
export function* conflictsInSlices(
  facts: FactStore,
  conflicts: readonly Difference[],
): Generator<'more', MergeConflict[], undefined> {
  const compareIds = byText(facts);
  const compare = (left: Difference, right: Difference): number =>
    compareDifferences(left, right, compareIds);
  let runs: Difference[][] = [];
  for (let from = 0; from < conflicts.length; from += conflictsInSlice) {
    if (from > 0) yield 'more';
    runs.push(conflicts.slice(from, from + conflictsInSlice).sort(compare));
  }
  while (runs.length > 1) {
    const merged: Difference[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* mergedRuns(runs[at] as Difference[], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  const shown: MergeConflict[] = [];
  for (const difference of runs[0] ?? [])
    if (shown.push(conflict(facts, difference)) % conflictsInSlice === 0) yield 'more';
  return shown;
}

function* mergedRuns(
  left: readonly Difference[],
  right: readonly Difference[],
  compare: (left: Difference, right: Difference) => number,
): Generator<'more', Difference[], undefined> {
  const merged: Difference[] = [];
  for (let [one, other] = [0, 0]; one < left.length || other < right.length; ) {
    const [first, second] = [left[one], right[other]];
    const isLeft = second === undefined || (first !== undefined && compare(first, second) <= 0);
    const length = merged.push((isLeft ? left[one++] : right[other++]) as Difference);
    if (length % conflictsInSlice === 0) yield 'more';
  }
  return merged;
}

const conflictsInSlice = 256;

/** A conflict as answers show it. */
export function conflict(facts: FactStore, difference: Difference, names?: ArgumentNames): MergeConflict {
  const { atoms, atom, source, target } = difference;
  const args = argsOf(facts, atoms, atom);
  return {
    predicate: atoms.predicate,
    args,
    ...names?.part(atoms.predicate, args),
    source: source === null ? null : scopeFact(facts, source, names),
    target: target === null ? null : scopeFact(facts, target, names),
    fields: fieldsThatDiffer(facts, difference),
  };
}
/** Compares constants by their text, each read once. */
export function byText({ dictionary }: FactStore): (left: number, right: number) => number {
  const texts = new Map<number, string>();
  const textOf = (id: number): string => {
    let text = texts.get(id);
    if (text === undefined) texts.set(id, (text = dictionary.text(id)));
    return text;
  };
  return (left, right) => compareText(textOf(left), textOf(right));
}
/** Orders differences by predicate, arguments, arity and truth value. */
export function compareDifferences(
  left: Difference,
  right: Difference,
  compareIds: (left: number, right: number) => number,
): number {
  const byPredicate =
    left.atoms === right.atoms ? 0 : compareText(left.atoms.predicate, right.atoms.predicate);
  if (byPredicate !== 0) return byPredicate;
  const length = Math.min(left.atoms.arity, right.atoms.arity);
  for (let position = 0; position < length; position++) {
    const one = (left.atoms.atoms.columns[position] as Int32Array)[left.atom] as number;
    const other = (right.atoms.atoms.columns[position] as Int32Array)[right.atom] as number;
    const order = one === other ? 0 : compareIds(one, other);
    if (order !== 0) return order;
  }
  return left.atoms.arity - right.atoms.arity || signOf(left) - signOf(right);
}
/** The argument texts of an atom of the join. */
export function argsOf(facts: FactStore, { atoms, arity }: JoinedAtoms, atom: number): string[] {
  return Array.from({ length: arity }, (_, position) =>
    facts.dictionary.text((atoms.columns[position] as Int32Array)[atom] as number),
  );
}

/** 0 for true, 1 for false: the truth value on the source side if it has the fact, else on the target side. */
export function signOf({ source, target }: Difference): number {
  return (source ?? target)?.relation.negated === true ? 1 : 0;
}
