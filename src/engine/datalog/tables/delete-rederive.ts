import { overdelete, phases, type Support, type Watcher } from '../model/derived.ts';
import type { TableSet } from './table-set.ts';

/**
 * A relation may lose this many rows, or 1 in `deletionDivisor` of its rows, before it is derived from
 * scratch instead.
 */
const maxDeletedRows = 20_000;
const deletionDivisor = 4;

/** Abandons maintenance: rows not settled stay alive, and the caller must drop them. */
export function abandonMaintenance(set: TableSet): void {
  set.work.clear();
  set.clearDeltas();
  for (const support of set.justifications.supports) {
    for (const { row } of support.deleted) support.derived.rows.spare(row);
    support.overdeleted = [];
    support.toRederive = [];
    support.deleted = [];
    support.rederived = [];
    support.derived.again = [];
  }
}

/**
 * The overdelete step: deletes what the dead rows support in their own level. False if too much has died.
 *
 * Delete and rederive (DRed), one level (SCC) at a time, lowest first (`WorkList`), at a cost in proportion
 * to what a change affects. Rows whose justification is gone are deleted, and everything that they support in
 * the level, before any row is checked: else two rows that support only each other would survive. Then every
 * dead row is checked for another derivation, then new and revived rows are joined. Only when the level is at
 * its fixpoint do the levels above get the net change: a row deleted and revived is no change. Rows that wait
 * for a negated atom or an aggregate whose relation changed lose their conclusions and are tested again.
 */
export function propagateDeletions(set: TableSet, support: Support): boolean {
  const { overdeleted, derived } = support;
  support.overdeleted = [];
  for (const row of overdeleted)
    set.justifications.dependents(support, row, (target, at) => {
      if (target.derived.level === derived.level) overdelete(set.work, target, at);
    });
  for (const row of overdeleted) support.toRederive.push(row);
  set.work.add(derived, phases.check);
  return support.deleted.length <= Math.max(maxDeletedRows, derived.rows.count / deletionDivisor);
}

/**
 * Propagates the net deletions of this level to the levels above, and all its changes to the waiting rows.
 */
export function notifyHigherLevels(set: TableSet, support: Support): void {
  const { derived, deleted, rederived, watchers } = support;
  const { rows, level } = derived;
  support.deleted = [];
  support.rederived = [];
  for (const { row, height } of deleted) {
    const isDead = rows.isDead(row);
    // With heights, a row that was revived with a greater height is not the premise that others had.
    if (!isDead && (rows.heights === null || (rows.heights.of[row] as number) <= height)) continue;
    if (isDead) rows.bury(row);
    set.justifications.dependents(support, row, (target, at) => {
      if (target.derived.level > level) overdelete(set.work, target, at);
    });
    for (const watcher of watchers) retestWaiting(set, watcher, rows.columns, row);
    if (isDead && support.wasInBaseline(row)) support.lost?.(row);
  }
  if (!watchers.some(({ waits }) => waits.claimed > 0)) {
    support.propagatedCount = rows.count;
    return;
  }
  const retest = (row: number): void => {
    for (const watcher of watchers) retestWaiting(set, watcher, rows.columns, row);
  };
  for (const row of rederived) retest(row);
  for (let row = support.propagatedCount; row < rows.count; row++) if (!rows.isDead(row)) retest(row);
  support.propagatedCount = rows.count;
}

/** Tests again the waiting rows that the changed row affects; until then their conclusions are deleted. */
export function retestWaiting(
  set: TableSet,
  watcher: Watcher,
  columns: readonly Int32Array[],
  row: number,
): void {
  const { waits, constants, equal, from, to } = watcher;
  if (waits.claimed === 0) return;
  const value = (position: number): number => (columns[position] as Int32Array)[row] as number;
  for (const { position, id } of constants) if (value(position) !== id) return;
  for (const [left, right] of equal) if (value(left) !== value(right)) return;
  const { rows } = waits;
  if (to.length === 0) for (let at = 0; at < waits.claimed; at++) testAgain(set, watcher, at);
  else {
    const index = rows.index(to);
    const key = Int32Array.from(from, value);
    for (let next = index.first(key); next !== 0; next = index.next[next - 1] as number)
      testAgain(set, watcher, next - 1);
  }
}

function testAgain(set: TableSet, { waits }: Watcher, row: number): void {
  const { support } = waits;
  if (support === null || row >= waits.claimed || waits.rows.isDead(row)) return;
  set.justifications.dependents(support, row, (target, at) => overdelete(set.work, target, at));
  waits.again.push(row);
  set.work.add(waits, phases.join);
}
