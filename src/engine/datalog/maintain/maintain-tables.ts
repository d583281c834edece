import { relationKey } from '../../language/terms.ts';
import { overdelete, phases } from '../model/derived.ts';
import { type Pacer, settle } from '../tables/evaluation.ts';
import { type Reader, sees } from '../model/reader.ts';
import type { TableSet } from '../tables/table-set.ts';
import { retestWaiting } from '../tables/delete-rederive.ts';

/**
 * Brings the set to what the reader sees, given the numbers of all stored facts that changed since it was settled.
 * False where that is not worth it; see `settle`.
 */
export async function maintainTables(
  set: TableSet,
  changed: readonly number[],
  reader: Reader,
  pacer: Pacer,
): Promise<boolean> {
  const { facts, work, justifications } = set;
  const taken = justifications.count;
  for (const support of justifications.supports) support.markBaseline();
  for (const number of new Set(changed)) {
    const { relation, row: newest } = facts.versionOf(number);
    // A write that nobody sees yet may be under way.
    const row = relation.versionAt(newest, reader.generation);
    const key = relationKey(relation.predicate, relation.arity, relation.negated);
    if (row >= 0 && sees(reader, relation, row))
      for (const news of set.deltasOf(key)) {
        news.rows.push(row);
        work.add(news, phases.stored);
      }
    else justifications.dependentsOfFact(number, (target, at) => overdelete(work, target, at));
    // A fact of which nothing is left went in an earlier change.
    if (row >= 0)
      for (const watcher of set.watchersOf(key)) retestWaiting(set, watcher, relation.columns, row);
  }
  if (!(await settle(set, reader, pacer))) return false;
  justifications.garbage += justifications.count - taken;
  if (justifications.needsCompaction) await justifications.compact(() => pacer.breathe());
  return true;
}
