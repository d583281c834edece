import { fromAt, type RunExtras, untilAt } from './fact-extras.ts';
import type { PastFacts } from './past-facts.ts';
import type { ScopeRecords } from './scope-records.ts';
import type { StoredAmounts } from './stored-amounts.ts';
import type { StoredRelation } from './stored-relation.ts';
import type { Boundaries } from './validity-boundaries.ts';

/** What a store counts beside its rows. */
interface Accounts {
  readonly boundaries: Boundaries;
  readonly scopes: ScopeRecords;
  readonly past: PastFacts;
  readonly amounts: StoredAmounts | null;
}

/** New facts in consecutive rows, with consecutive numbers, and the moment at which they are stored. */
interface AppendedFacts {
  readonly relation: StoredRelation;
  readonly row: number;
  readonly number: number;
  readonly count: number;
  /** Their scopes begin at `from`, and the indexes of what they give. */
  readonly scopes: Int32Array;
  readonly from: number;
  readonly extras: RunExtras | null;
  readonly generation: number;
  readonly time: number;
}

/** Counts facts that were appended to a relation of the store. */
export function noteAppended(
  { boundaries, scopes: records, past, amounts }: Accounts,
  facts: AppendedFacts,
): void {
  const { relation, row, number, count, scopes, from, extras, generation, time } = facts;
  if (extras === null) boundaries.note(number, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, time);
  for (let one = 0; one < count; one++) {
    const until = untilAt(extras, from + one);
    if (extras !== null) {
      const { columns, first } = extras;
      boundaries.note(number + one, fromAt(extras, from + one), until, time);
      const at = first + from + one;
      if (columns.validUntil !== null && !Number.isNaN(columns.validUntil[at]))
        past.noteEnd(number + one, columns.byTtl?.[at] === 1 ? time : null);
    }
    const scope = scopes[from + one] as number;
    if (scope !== 0) records.asserted(scope, number + one, until, time, generation);
    amounts?.added(relation, row + one);
  }
}
