import type { Slices } from '../base/slices.ts';
import type { ScopeRecords } from './scope-records.ts';
import type { StoredRelation } from './stored-relation.ts';
import type { Boundaries } from './validity-boundaries.ts';

const rowsInSlice = 0x4000;

/**
 * Notes the bounds to come of a restored relation's live facts, and counts those in scopes. `time`: the logical time at which
 * the facts were saved.
 */
export async function noteRestored(
  relation: StoredRelation,
  { boundaries, scopes }: { readonly boundaries: Boundaries; readonly scopes: ScopeRecords },
  time: number,
  slices: Slices,
): Promise<void> {
  const { validFrom, validUntil, spansScopes, columns, arity, count } = relation;
  const inScope = columns[arity] as Int32Array;
  // Most facts have neither bounds nor a scope.
  if (validFrom === null && validUntil === null && !spansScopes && inScope[0] === 0) return;
  for (let row = 0; row < count; row++) {
    if (row % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    if (!relation.isAlive(row)) continue;
    const { from, until } = relation.boundsOf(row);
    const number = relation.number[row] as number;
    boundaries.note(number, from, until, time);
    const scope = inScope[row] as number;
    if (scope !== 0) scopes.hold({ scope, number, until });
  }
}
