/**
 * The undo of a merge of entities as plain writes, for services that keep no history to take it back from: each guarded by the generation of the merge: what was changed since is
 * refused and not overwritten.
 */
import type { EntitiesMerged, RewrittenFact } from '../../../engine/contract/entities.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';
import type { TransactionWrite } from '../../api/transaction.ts';

/** Most facts of a merge that can be undone, since each takes a request. */
export const maxUndoneRewrites = 10_000;

type UndoWrite = Extract<TransactionWrite, { operation: 'assertFact' | 'retract' }>;

function identityOf({ predicate, args, truthVal, scope }: RewrittenFact) {
  return { predicate, args, truthVal, ...scopeFieldsOfStored(scope) };
}

/** A complete assertion of a fact: nothing of its current version remains. */
function restoring(fact: RewrittenFact, ifGeneration: number): UndoWrite {
  const body = {
    ...identityOf(fact),
    validFrom: fact.validFrom ?? ('always' as const),
    validUntil: fact.validUntil ?? ('never' as const),
    metadata: fact.metadata,
    ifGeneration,
  };
  return { operation: 'assertFact', input: { body } };
}

/**
 * Returns the writes: what the merge made goes, or returns to what it was before it was joined; what the merge rewrote
 * comes back, unless its validity has ended. `now`: epoch milliseconds.
 */
export function undoOfMerge({ rewritten }: EntitiesMerged, generation: number, now: number): UndoWrite[] {
  const hasEnded = ({ validUntil }: RewrittenFact): boolean => validUntil !== null && validUntil <= now;
  const made = new Map<string, UndoWrite>();
  for (const { after, joined } of rewritten) {
    const key = JSON.stringify([after.predicate, after.args, after.truthVal, after.scope]);
    if (joined === null)
      made.set(key, {
        operation: 'retract',
        input: { body: { ...identityOf(after), ifGeneration: generation } },
      });
    else if (!hasEnded(joined)) made.set(key, restoring(joined, generation));
  }
  const gone = rewritten.filter(({ before }) => !hasEnded(before));
  return [...made.values(), ...gone.map(({ before }) => restoring(before, generation))];
}
