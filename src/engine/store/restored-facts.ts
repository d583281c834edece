import type { Slices } from '../base/slices.ts';
import type { AliveFact } from './scope-records.ts';
import type { StoredRelation } from './stored-relation.ts';
import type { Boundaries } from './validity-boundaries.ts';

const rowsInSlice = 0x4000;

/**
 * Notes the bounds to come of a restored relation's live facts, and returns those in scopes. `time`: the logical time at which
 * the facts were saved.
 */
export async function noteRestored(
  relation: StoredRelation,
  boundaries: Boundaries,
  time: number,
  slices: Slices,
): Promise<AliveFact[]> {
  const { validFrom, validUntil, spansScopes, columns, arity, count } = relation;
  const scopes = columns[arity] as Int32Array;
  const inScopes: AliveFact[] = [];
  // Most facts have neither bounds nor a scope.
  if (validFrom === null && validUntil === null && !spansScopes && scopes[0] === 0) return inScopes;
  for (let row = 0; row < count; row++) {
    if (row % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    if (!relation.isAlive(row)) continue;
    const { from, until } = relation.boundsOf(row);
    const number = relation.number[row] as number;
    boundaries.note(number, from, until, time);
    const scope = scopes[row] as number;
    if (scope !== 0) inScopes.push({ scope, number, until });
  }
  return inScopes;
}
