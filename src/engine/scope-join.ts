import { compareText } from './base/text-order.ts';
import { areAlike, type FactRow, type FactStore, sameJson } from './facts/fact-store.ts';
import type { StoredRelation } from './facts/stored-relation.ts';
import { Tuples } from './facts/tuples.ts';
import { differingFields } from './contract/scopes.ts';

/**
 * Scopes side by side, atom by atom, and what differs between two of them: what diff and merge are made of.
 *
 * One pass over the columns hashes the facts of all sides by their arguments, in id space; no text is read. What comes
 * out is a function of the stored facts alone and its order that of the columns, so a merge that is applied again from
 * the log is the same merge. Facts are held or not at one generation and time: those whose validity has ended are left
 * out, those whose validity has not begun are not.
 */

/** The facts of one predicate and arity in all sides, by atom. */
export class JoinedAtoms {
  readonly predicate: string;
  readonly arity: number;
  readonly atoms: Tuples;
  /** What is stored as true, and what as false. */
  readonly relations: [StoredRelation | null, StoredRelation | null] = [null, null];
  readonly #sides: number;
  /** For each atom, side and truth value the row of the fact, counted from 1; 0: there is none. */
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
    for (let position = 0; position < this.arity; position++)
      args[position] = (relation.columns[position] as Int32Array)[row] as number;
    const inserted = this.atoms.insert(args);
    const atom = inserted < 0 ? this.atoms.find(args) : inserted;
    const at = this.#place(atom, side, relation.negated);
    if (at >= this.#rows.length) {
      const rows = new Int32Array(this.#rows.length * 2);
      rows.set(this.#rows);
      this.#rows = rows;
    }
    this.#rows[at] = row + 1;
  }

  fact(atom: number, side: number, negated: boolean): FactRow | null {
    const relation = this.relations[negated ? 1 : 0];
    const row = (this.#rows[this.#place(atom, side, negated)] ?? 0) - 1;
    return relation === null || row < 0 ? null : { relation, row };
  }

  #place(atom: number, side: number, negated: boolean): number {
    return (atom * this.#sides + side) * 2 + (negated ? 1 : 0);
  }
}

/** Rows that are looked at between two slices, and those that are taken in. */
const rowsLookedAt = 8192;
const rowsTaken = 512;

/** Relations in one order on every replica, whatever they were made by. */
export function relationsInOrder(facts: FactStore): StoredRelation[] {
  return [...facts.relations.values()].sort(
    (left, right) =>
      compareText(left.predicate, right.predicate) ||
      left.arity - right.arity ||
      Number(left.negated) - Number(right.negated),
  );
}

/** The facts held in this scope at this generation and time, in the order of relations and their rows. */
export function* factsOfScope(
  facts: FactStore,
  scope: number,
  generation: number,
  time: number,
): Generator<'more' | FactRow, void, undefined> {
  let left = rowsLookedAt;
  for (const relation of relationsInOrder(facts)) {
    const end = relation.rowsAt(generation);
    for (let row = 0; row < end; row++) {
      if (--left === 0) {
        left = rowsLookedAt;
        yield 'more';
      }
      if ((relation.columns[relation.arity] as Int32Array)[row] === scope)
        if (relation.isHeld(row, generation, time)) yield { relation, row };
    }
  }
}

/** Joins the facts of these scopes, given by their numbers: a side each; one of -1 has none. */
export function* joinScopes(
  facts: FactStore,
  sides: readonly number[],
  generation: number,
  time: number,
): Generator<'more', JoinedAtoms[], undefined> {
  const joined: JoinedAtoms[] = [];
  let left = rowsLookedAt;
  for (const relation of relationsInOrder(facts)) {
    const { predicate, arity, negated } = relation;
    let atoms = joined.at(-1);
    if (atoms === undefined || atoms.predicate !== predicate || atoms.arity !== arity) {
      atoms = new JoinedAtoms(predicate, arity, sides.length);
      joined.push(atoms);
    }
    atoms.relations[negated ? 1 : 0] = relation;
    const args = new Int32Array(arity);
    const end = relation.rowsAt(generation);
    for (let row = 0; row < end; row++) {
      if (--left <= 0) {
        left = rowsLookedAt;
        yield 'more';
      }
      const scope = (relation.columns[arity] as Int32Array)[row] as number;
      if (!sides.includes(scope) || !relation.isHeld(row, generation, time)) continue;
      left -= rowsLookedAt / rowsTaken;
      for (const [side, wanted] of sides.entries())
        if (wanted === scope) atoms.add(relation, row, side, args);
    }
    if (atoms.count === 0) joined.pop();
  }
  return joined;
}

/** The sides of a join by what they are to a comparison. */
export const sourceSide = 0;
export const targetSide = 1;
export const baseSide = 2;

/** What is in the source and not, or otherwise, in the target; or the other way round. One of the two is there. */
export interface Difference {
  readonly atoms: JoinedAtoms;
  readonly atom: number;
  readonly source: FactRow | null;
  readonly target: FactRow | null;
}

export type DifferingField = (typeof differingFields)[number];

/** Hands over what differs, in the order of the join, and counts the facts that are alike on both sides. */
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
      // At most one is left on each side where something is left on both.
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

/** In what the two sides of a pair differ, in the order of the contract; nothing where one is missing. */
export function fieldsThatDiffer(
  facts: FactStore,
  { source, target }: Pick<Difference, 'source' | 'target'>,
): DifferingField[] {
  if (source === null || target === null) return [];
  const [one, other] = [facts.versionAt(source), facts.versionAt(target)];
  const differ: Record<DifferingField, boolean> = {
    truthVal: source.relation.negated !== target.relation.negated,
    validFrom: one.from !== other.from,
    validUntil: one.until !== other.until,
    metadata: !sameJson(one.metadata, other.metadata),
  };
  return differingFields.filter((field) => differ[field]);
}

function isFact(fact: FactRow | null | undefined): fact is FactRow {
  return fact !== null && fact !== undefined;
}
