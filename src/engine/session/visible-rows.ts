import type { ReadContext } from './read-context.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { sees } from '../datalog/model/reader.ts';

/** True for a row that the reader sees in the view. */
export type IsVisible = (relation: StoredRelation, row: number) => boolean;

/** Tells which rows the context's reader sees in the view: stored, valid at its time, of a scope of the view. */
export function visibleIn({ tenant, reader }: ReadContext, view: ScopeChoice): IsVisible {
  const scope = scopeNumberOf(tenant.facts, view);
  if (scope === null) return (relation, row) => sees(reader, relation, row);
  return (relation, row) =>
    (relation.columns[relation.arity] as Int32Array)[row] === scope && sees(reader, relation, row);
}

/** The number of the one scope that the view is of, -1 where no fact was ever in it; null: the view is of all. */
export function scopeNumberOf(facts: ReadContext['tenant']['facts'], view: ScopeChoice): number | null {
  if (view.kind === 'all') return null;
  return view.kind === 'unscoped' ? 0 : facts.scopeNumber(view.scope);
}

const rowsBetweenBreaths = 0xfff;

/** How many stored facts the context's reader sees in the view. */
export async function countVisible(context: ReadContext, view: ScopeChoice): Promise<number> {
  const { tenant, reader, pacer } = context;
  const isVisible = visibleIn(context, view);
  let count = 0;
  for (const relation of tenant.facts.relations.values()) {
    const isOpen = relation.validFrom === null && relation.validUntil === null;
    const live = isOpen && reader.overlay === null ? relation.liveIn(reader.generation) : null;
    if (live !== null && view.kind === 'all') {
      count += live;
      continue;
    }
    const rows = relation.rowsAt(reader.generation);
    for (let row = 0; row < rows; row++) {
      if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
      if (isVisible(relation, row)) count++;
    }
  }
  return count;
}
