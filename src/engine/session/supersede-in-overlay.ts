import { present } from '../base/assert.ts';
import type { FactOverlay } from '../datalog/model/fact-overlay.ts';
import { holdersOf, judgeKey, type StoredHolder, type StrictKey } from '../state/key-rule.ts';
import type { FactIdentity, FactStore, FactToStore } from '../store/fact-store.ts';

/** What becomes of a fact that is supposed, and of those that it supersedes. */
interface Superseding {
  /** With its beginning. */
  readonly fact: FactToStore;
  readonly superseded: readonly FactIdentity[];
}

/**
 * Ends and retracts in the overlay what the fact supersedes by its key, as `KeyedFacts` does in the store; the fact itself is
 * left to the caller. `facts`: the stored facts that the overlay lies over.
 */
export function* supersedeInOverlay(
  overlay: FactOverlay,
  facts: FactStore,
  fact: FactToStore,
  key: StrictKey,
): Generator<'more', Superseding, undefined> {
  const { generation, time, facts: added } = overlay.added;
  const own = yield* holdersOf(added, fact, key, time);
  const base = yield* holdersOf(facts, fact, key, time);
  const relation = facts.relation(fact.predicate, fact.args.length, false);
  const hidden = relation === null ? undefined : overlay.hidden.get(relation);
  const isLeft = ({ row }: StoredHolder): boolean => hidden?.has(row) !== true;
  const same = own.same ?? (base.same !== null && isLeft(base.same) ? base.same : null);
  const rivals = [
    ...base.rivals.filter(isLeft).map((holder) => ({ ...holder, of: facts })),
    ...own.rivals.map((holder) => ({ ...holder, of: added })),
  ];
  const judgement = judgeKey(fact, same, rivals, 'supersede', time);
  if (judgement.kind !== 'supersedes') return { fact, superseded: [] };
  const { from, ended, retracted } = judgement;
  const { predicate, truthVal, scope } = fact;
  const superseded: FactIdentity[] = [];
  for (const { row, of } of [...ended, ...retracted]) {
    const held = present(
      of.relation(predicate, fact.args.length, false),
      'what is superseded has a relation',
    );
    const identity = { predicate, args: of.argsOf({ relation: held, row }), truthVal, scope };
    superseded.push(identity);
    const isRetracted = retracted.some((each) => each.row === row && each.of === of);
    if (!isRetracted) overlay.store({ ...identity, validUntil: from });
    else if (of === added) added.retract({ relation: held, row }, generation);
    else overlay.hideStored({ relation: held, row });
  }
  const begins =
    same === null ? { ...fact, validFrom: Number.isFinite(from) ? from : ('always' as const) } : fact;
  return { fact: begins, superseded };
}
