import { overdelete, phases, type Support, type Watcher } from '../model/derived.ts';
import type { TableSet } from './table-set.ts';

/**
 * Upkeep: a settled set of tables made true again after facts came and went, in proportion to what that affects.
 *
 * Level by level, lowest first (`WorkList`). What lost its justification is killed, and all that this was a premise of
 * in the level, before anything is looked at again: else two rows that have only each other would keep each other. Then
 * each dead row is looked at for another reason, then what is new or revived is joined. Only when the level has come to
 * rest do those above hear what really went: what was killed and revived is no change to them. Rows that wait for an
 * absence or an aggregate whose relation changed lose what they concluded and are tested again.
 */

/** A relation may lose so many rows, or this part of its rows, before it is derived afresh instead. */
const fewKilled = 20_000;
const largestPart = 4;

/** Gives up what was begun: what is not settled stays alive, to be dropped by whoever called. */
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

/** Kills what the dead rows were premises of, in their own level. False where too much has died. */
export function propagateDeletions(set: TableSet, support: Support): boolean {
  const { overdeleted, derived } = support;
  support.overdeleted = [];
  for (const row of overdeleted)
    set.justifications.dependents(support, row, (target, at) => {
      if (target.derived.level === derived.level) overdelete(set.work, target, at);
    });
  for (const row of overdeleted) support.toRederive.push(row);
  set.work.add(derived, phases.check);
  return support.deleted.length <= Math.max(fewKilled, derived.rows.count / largestPart);
}

/** Tells the levels above what has gone from this one, and those that wait what has changed at all. */
export function notifyHigherLevels(set: TableSet, support: Support): void {
  const { derived, deleted, rederived, watchers } = support;
  const { rows, level } = derived;
  support.deleted = [];
  support.rederived = [];
  for (const { row, height } of deleted) {
    const isDead = rows.isDead(row);
    // Where heights count, a row that came back higher is no longer what others took it for.
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
  const tell = (row: number): void => {
    for (const watcher of watchers) retestWaiting(set, watcher, rows.columns, row);
  };
  for (const row of rederived) tell(row);
  for (let row = support.propagatedCount; row < rows.count; row++) if (!rows.isDead(row)) tell(row);
  support.propagatedCount = rows.count;
}

/** Has the waiting rows that the changed row concerns tested again; what they concluded dies until then. */
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
