import type { FactStore, ScopeChoice } from '../facts/fact-store.ts';
import type { StoredRelation } from '../facts/stored-relation.ts';

/**
 * A reader of one tenant's facts, pinned at a generation and a time: it sees one state whatever is written
 * meanwhile. `hidden` rows count as not stored, which is how a retraction is tried before it is made.
 */
export interface Reader {
  readonly facts: FactStore;
  readonly generation: number;
  readonly time: number;
  readonly hidden: ReadonlyMap<StoredRelation, ReadonlySet<number>> | null;
}

/** True where the reader sees the row of the relation. */
export function sees(reader: Reader, relation: StoredRelation, row: number): boolean {
  return (
    relation.isVisible(row, reader.generation, reader.time) &&
    (reader.hidden === null || reader.hidden.get(relation)?.has(row) !== true)
  );
}

/** Text that is equal for equal choices: the views of a scope, of no scope and of everything are three. */
export function viewKey(view: ScopeChoice): string {
  return view.kind === 'scope' ? `=${view.scope}` : view.kind;
}
