import type { AtomLiteral } from '../../contract/language.ts';
import type { FactPattern, FactRow, FactStore, ScopeChoice } from '../../store/fact-store.ts';
import { rowsOfAtom } from '../../store/fact-matching.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import type { Constants } from './constants.ts';

/**
 * A reader of one tenant's facts, pinned at a generation and a time (MVCC): it sees one snapshot, whatever is
 * written meanwhile. With an overlay it sees that snapshot after a hypothetical change.
 */
export interface Reader {
  readonly facts: FactStore;
  readonly generation: number;
  readonly time: number;
  readonly overlay: Overlay | null;
}

/** What a reader sees over the stored facts, and instead of some; see `fact-overlay.ts`. */
export interface Overlay {
  /** The constants of the added rows, and of all tables filled for the reader. */
  readonly constants: Constants;
  /** Rows of the stored facts that count as not stored. */
  readonly hidden: ReadonlyMap<StoredRelation, ReadonlySet<number>>;
  /** Reads the added facts alone. It has its own scope numbers. */
  readonly added: Reader;
  /** The id of an added fact that is a version of a stored one; null if it is new. */
  idOf(fact: FactRow): string | null;
}

/** True if the row is visible to the reader. */
export function sees(reader: Reader, relation: StoredRelation, row: number): boolean {
  return (
    relation.isVisible(row, reader.generation, reader.time) &&
    (reader.overlay === null || reader.overlay.hidden.get(relation)?.has(row) !== true)
  );
}

/** The version of a fact that the reader sees, given its newest row; -1 if it sees none. */
export function rowSeen(reader: Reader, relation: StoredRelation, newest: number): number {
  let row = relation.versionAt(newest, reader.generation);
  while (row >= 0 && !sees(reader, relation, row)) row = relation.olderThan(row);
  return row;
}

/** True if the reader sees a stored fact of the atom with these dictionary ids in the view. */
export function isAtomStored(
  reader: Reader,
  view: ScopeChoice,
  { predicate, arity, negated }: Pick<StoredRelation, 'predicate' | 'arity' | 'negated'>,
  ids: Int32Array,
): boolean {
  const relation = reader.facts.relation(predicate, arity, negated);
  if (relation === null) return false;
  return rowsOfAtom(reader.facts, relation, ids, reader.facts.chosenScope(view)).some(
    (newest) => rowSeen(reader, relation, newest) >= 0,
  );
}

/**
 * The facts that match the pattern and are visible to the reader: stored ones, then those that an overlay
 * adds.
 */
export function* matching(reader: Reader, pattern: FactPattern): Generator<FactRow> {
  for (const fact of reader.facts.match(pattern, reader.generation, reader.time))
    if (sees(reader, fact.relation, fact.row)) yield fact;
  if (reader.overlay !== null) yield* matching(reader.overlay.added, pattern);
}

/** True if the reader's overlay adds the fact. */
export function isAdded(reader: Reader, { relation }: FactRow): boolean {
  const { predicate, arity, negated } = relation;
  return reader.overlay?.added.facts.relation(predicate, arity, negated) === relation;
}

/** A key for a view, equal for equal choices: one scope, no scope, and everything are distinct. */
export function viewKey(view: ScopeChoice): string {
  return view.kind === 'scope' ? `=${view.scope}` : view.kind;
}

/** False if the reader can see no fact of the atom's relation. */
export function hasFacts({ predicate, args, negated }: AtomLiteral, { facts, overlay }: Reader): boolean {
  const stored = facts.relation(predicate, args.length, negated);
  if (stored !== null && stored.count > 0) return true;
  return (overlay?.added.facts.relation(predicate, args.length, negated) ?? null) !== null;
}
