import type { FactPattern, FactRow, FactStore, ScopeChoice } from '../../store/fact-store.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import type { Constants } from './constants.ts';

/**
 * A reader of one tenant's facts, pinned at a generation and a time: it sees one state whatever is written
 * meanwhile. With an overlay it sees that state as it would be after a change that nobody has made.
 */
export interface Reader {
  readonly facts: FactStore;
  readonly generation: number;
  readonly time: number;
  readonly overlay: Overlay | null;
}

/** What a reader sees over the stored facts and in place of some; see `fact-overlay.ts`. */
export interface Overlay {
  /** What ids mean in the added rows, and in all tables that are filled for the reader. */
  readonly constants: Constants;
  /** Rows of the stored facts that count as not stored. */
  readonly hidden: ReadonlyMap<StoredRelation, ReadonlySet<number>>;
  /** Reads the added facts by themselves. Its numbers of scopes are its own. */
  readonly added: Reader;
  /** The id of an added fact that is a version of a stored one; null where it is new. */
  idOf(fact: FactRow): string | null;
}

/** True where the reader sees the row of the relation. */
export function sees(reader: Reader, relation: StoredRelation, row: number): boolean {
  return (
    relation.isVisible(row, reader.generation, reader.time) &&
    (reader.overlay === null || reader.overlay.hidden.get(relation)?.has(row) !== true)
  );
}

/** The facts that match the pattern and that the reader sees: the stored ones, then those an overlay adds. */
export function* matching(reader: Reader, pattern: FactPattern): Generator<FactRow> {
  for (const fact of reader.facts.match(pattern, reader.generation, reader.time))
    if (sees(reader, fact.relation, fact.row)) yield fact;
  if (reader.overlay !== null) yield* matching(reader.overlay.added, pattern);
}

/** True where the fact is one that the reader's overlay adds. */
export function isAdded(reader: Reader, { relation }: FactRow): boolean {
  const { predicate, arity, negated } = relation;
  return reader.overlay?.added.facts.relation(predicate, arity, negated) === relation;
}

/** Text that is equal for equal choices: the views of a scope, of no scope and of everything are three. */
export function viewKey(view: ScopeChoice): string {
  return view.kind === 'scope' ? `=${view.scope}` : view.kind;
}
