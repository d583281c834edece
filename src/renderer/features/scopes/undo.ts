/**
 * The way back from a merge, and the way to try one: what it does to target, as plain writes.
 *
 * The way back restores what target had, and nothing else: every write is guarded by the generation of the merge, so
 * that what somebody changed since is refused and not overwritten.
 */
import type { TransactionWrite } from '../../api/transaction.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';
import type { ScopeFact } from '../../../engine/contract/scopes.ts';
import type { RowResult, Version } from './merge-result.ts';
import type { MergeRow } from './merge-rows.ts';
import type { Side } from './scopes-search.ts';

/** A row with what the merge makes of it. */
export interface ChangedRow {
  readonly row: MergeRow;
  readonly result: RowResult;
}

/** The writes that take a merge back. */
export type UndoWrite = Extract<TransactionWrite, { operation: 'assertFact' | 'retract' }>;

/** A merge that changed more facts than this is not taken back from here: each takes a request. */
export const mostUndone = 10_000;

type Identity = Pick<ScopeFact, 'predicate' | 'args' | 'truthVal'>;

function identityOf({ predicate, args, truthVal }: Identity): Identity {
  return { predicate, args, truthVal };
}

/** A version as it is asserted whole: nothing of what was there before stays. */
function wholeOf(identity: Identity, version: Version, target: Side) {
  return {
    ...identityOf({ ...identity, truthVal: version.truthVal }),
    ...scopeFieldsOfStored(target),
    validFrom: version.validFrom ?? ('always' as const),
    validUntil: version.validUntil ?? ('never' as const),
    metadata: version.metadata,
  };
}

/** True where the merge puts a fact of the other truth value beside target's, or in its place. */
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
  // One whose validity has ended meanwhile would be gone by now.
  const hasEnded = before.validUntil !== null && before.validUntil <= now;
  if (!isKept && !hasEnded)
    writes.push({
      operation: 'assertFact',
      input: { body: { ...wholeOf(before, before, target), ifGeneration } },
    });
  return writes;
}

/**
 * What takes a merge back. `changed`: the rows as they were before it; `generation`: the one that it made; `now`:
 * epoch ms.
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

/** The changes of a merge as POST /whatIf takes them: what target loses, then what it gets. */
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
