/**
 * One write of everything a text states: facts and rules in one record and one generation.
 *
 * The commit is exclusive, so that it can read what is stored: a stored fact counts as asserted again and keeps its
 * metadata, because a text must not override a pin or a confidence that somebody set. A rule that does not fit refuses
 * the whole write.
 */
import { assert } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { checkRulesInTurn } from './commit-check.ts';
import type { RuleInput } from '../contract/rules.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import type { FactStore, FactToStore } from '../store/fact-store.ts';
import { type Commit, type RuleOperation, type Outcome, outcomeAs } from '../state/operation.ts';
import { ruleToStore } from '../commit/prepare-rules.ts';
import type { Writer } from '../session/writer.ts';
import type { Write } from '../commit/commit-pipeline.ts';
import type { Metadata } from '../contract/facts.ts';

const betweenBreaths = 256;

/** Stores everything that a text taught in one generation, or nothing. Throws RuleException or ValidationException if a rule cannot be taught. */
export async function learn(writer: Writer, caller: Caller, learning: Learning): Promise<Learned> {
  const { live } = writer;
  const { facts, note } = learning;
  assert(facts.length + learning.rules.length > 0, 'something to learn');
  const slices = writer.slices(caller);
  const rules = learning.rules.map((rule): RuleOperation => ({ kind: 'teach', rule: ruleToStore(rule) }));
  const toStore: FactToStore[] = [];
  const operation: Commit = {
    kind: 'commit',
    tenant: caller.tenant,
    retract: [],
    assert: toStore,
    rules,
    operations: facts.length + rules.length,
    ...(note === null || caller.idempotency === null ? {} : { note }),
  };
  // No other write comes between this check and the record, so the check can complete the operation from what is
  // stored.
  const check = async (time: number): Promise<void> => {
    const { name, rules: taught, generation } = live.database(caller);
    await checkRulesInTurn({ name, rules: taught }, rules, { time, generation }, slices);
    const store = live.storeOf(caller);
    const seen = new Set<string>();
    for (const [at, fact] of facts.entries()) {
      if (at % betweenBreaths === 0) await slices.breathe();
      // A record contains a fact only once.
      const { predicate, args, truthVal, scope } = fact;
      const key = JSON.stringify([predicate, truthVal, scope, ...args]);
      if (!seen.has(key)) toStore.push(factToStore(fact, store, time));
      seen.add(key);
    }
    Object.assign(wanted, await encodeWrite(operation, slices));
  };
  const wanted: Write = { caller, operation, check };
  return learnedOf((await writer.write(wanted)).outcome);
}

/** The result of the first request with the caller's idempotency key, if that learned something; else null. */
export function learned(writer: Writer, caller: Caller): Learned | null {
  const outcome = writer.earlierOutcome(caller);
  return outcome === null ? null : learnedOf(outcome);
}

/** The result of such a write, from its recorded outcome. */
function learnedOf(outcome: Outcome): Learned {
  const { asserted = 0, unchanged = 0, generation, note = null } = outcomeAs(outcome, 'committed');
  return { asserted, unchanged, generation, note };
}

function factToStore(fact: LearnedFact, store: FactStore | null, time: number): FactToStore {
  const { predicate, args, truthVal, scope, metadata } = fact;
  const identity = { predicate, args, truthVal, scope };
  const known = store?.find(predicate, args, truthVal, scope) ?? null;
  const isStored = store !== null && known !== null && store.isStored(known, time);
  return isStored ? identity : { ...identity, metadata };
}

/** A fact that a text states. */
export interface LearnedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  /** Its source. A fact that is already stored keeps its own metadata. */
  readonly metadata: Metadata;
}

/**
 * What a text states: a type shared by engine and service, not on the wire. The caller interprets the text; `learn`
 * stores all of it or nothing.
 */
export interface Learning {
  readonly facts: readonly LearnedFact[];
  readonly rules: readonly RuleInput[];
  /** A note recorded with the write, for a request repeated after a restart; null: none. */
  readonly note: string | null;
}

/** The result of `learn`. */
export interface Learned {
  readonly asserted: number;
  readonly unchanged: number;
  readonly generation: number;
  readonly note: string | null;
}
