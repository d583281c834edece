/**
 * The undo of a merge, and its trial: the changes of target as plain writes.
 *
 * The undo restores exactly what target had. Every write is guarded by the generation of the merge, so that later
 * changes are refused and not overwritten.
 */
import type { TransactionWrite } from '../../api/transaction.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';
import type { ScopeFact } from '../../../engine/contract/scopes.ts';
import type { MergeRow, RowResult, Version } from './merge.ts';
import type { Side } from './scopes-search.ts';

/** A row with its result. */
export interface ChangedRow {
  readonly row: MergeRow;
  readonly result: RowResult;
}

/** The writes of an undo. */
type UndoWrite = Extract<TransactionWrite, { operation: 'assertFact' | 'retract' }>;

/** Maximum number of changed facts of an undo, since each takes a request. */
export const maxUndone = 10_000;

type Identity = Pick<ScopeFact, 'predicate' | 'args' | 'truthVal'>;

function identityOf({ predicate, args, truthVal }: Identity): Identity {
  return { predicate, args, truthVal };
}

/** A complete assertion of a version: nothing of the current one remains. */
function wholeOf(identity: Identity, version: Version, target: Side) {
  return {
    ...identityOf({ ...identity, truthVal: version.truthVal }),
    ...scopeFieldsOfStored(target),
    validFrom: version.validFrom ?? ('always' as const),
    validUntil: version.validUntil ?? ('never' as const),
    metadata: version.metadata,
  };
}

/** True if the merge adds the opposite truth value to target, or replaces target's fact with it. */
function bringsNegation({ source, target }: MergeRow): boolean {
  return source !== null && (target === null || source.truthVal !== target.truthVal);
}

function inverseOf({ row, result }: ChangedRow, target: Side, ifGeneration: number, now: number) {
  const writes: UndoWrite[] = [];
  const { source, target: before } = row;
  const isThere = (truthVal: boolean) => result.versions.some((version) => version.truthVal === truthVal);
  if (source !== null && bringsNegation(row) && isThere(source.truthVal))
    writes.push({
      operation: 'retract',
      input: { body: { ...identityOf(source), ...scopeFieldsOfStored(target), ifGeneration } },
    });
  if (before === null) return writes;
  const isKept = result.versions.includes(before);
  // A version whose validity has ended meanwhile would be gone by now.
  const hasEnded = before.validUntil !== null && before.validUntil <= now;
  if (!isKept && !hasEnded)
    writes.push({
      operation: 'assertFact',
      input: { body: { ...wholeOf(before, before, target), ifGeneration } },
    });
  return writes;
}

/**
 * Returns the writes that undo a merge. `changed`: the rows before it; `generation`: the merge's; `now`: epoch
 * milliseconds.
 */
export function undoOf(
  changed: readonly ChangedRow[],
  target: Side,
  generation: number,
  now: number,
): UndoWrite[] {
  return changed
    .filter(({ result }) => result.change !== 'none')
    .flatMap((row) => inverseOf(row, target, generation, now));
}

/** Returns the changes of a merge as POST /whatIf takes them: what target loses, then what it gains. */
export function supposedOf(changed: readonly ChangedRow[], target: Side) {
  const assert: ReturnType<typeof wholeOf>[] = [];
  const retract: (Identity & ReturnType<typeof scopeFieldsOfStored>)[] = [];
  for (const { row, result } of changed) {
    const fact = row.source ?? row.target;
    if (result.change === 'none' || fact === null) continue;
    const { target: before } = row;
    if (before !== null && !result.versions.some((version) => version.truthVal === before.truthVal))
      retract.push({ ...identityOf(before), ...scopeFieldsOfStored(target) });
    for (const version of result.versions)
      if (version !== before) assert.push(wholeOf(fact, version, target));
  }
  return { assert, retract };
}
