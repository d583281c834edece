/**
 * One write of everything a text states: facts and rules in one record and one generation.
 *
 * The commit is exclusive, so that it can read what is stored: a stored fact counts as asserted again and keeps its
 * metadata, because a text must not override a pin or a confidence that somebody set. A rule that does not fit refuses
 * the whole write.
 */
import { assert } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { Slices } from '../base/slices.ts';
import { changeRules } from '../state/apply-rules.ts';
import { checkRulesInTurn } from './commit-check.ts';
import type { RuleInput } from '../contract/rules.ts';
import { encodedOperation } from '../commit/encode-operation.ts';
import type { FactStore, FactToStore } from '../store/fact-store.ts';
import { type Commit, type RuleOperation, type Outcome, outcomeAs } from '../state/operation.ts';
import { checkRuleOperation, ruleToStore } from '../commit/prepare-rules.ts';
import type { Writer } from '../session/writer.ts';
import type { Pause } from '../datalog/tables/evaluation.ts';
import type { DatabaseState } from '../state/state.ts';
import type { Write } from '../commit/commit-pipeline.ts';
import type { Metadata } from '../contract/facts.ts';

const betweenBreaths = 256;

/** Stores facts and rules atomically. Throws RuleException or ValidationException if a rule cannot be taught. */
export async function learn(
  { live, write }: Writer,
  caller: Caller,
  learning: Learning,
  pause: Pause,
): Promise<Learned> {
  const { facts, note } = learning;
  assert(facts.length + learning.rules.length > 0, 'something to learn');
  const slices = new Slices(pause);
  const rules = learning.rules.map((rule) => teachingOf(rule));
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
    const store = live.storeOf(caller)();
    const seen = new Set<string>();
    for (const [at, fact] of facts.entries()) {
      if (at % betweenBreaths === 0) await slices.breathe();
      // A record contains a fact only once.
      const { predicate, args, truthVal, scope } = fact;
      const key = JSON.stringify([predicate, truthVal, scope, ...args]);
      if (!seen.has(key)) toStore.push(factToStore(fact, store, time));
      seen.add(key);
    }
    const encoded = await encodedOperation(operation, slices);
    if (encoded !== null) wanted.encoded = encoded;
  };
  const wanted: { -readonly [Key in keyof Write]: Write[Key] } = {
    caller,
    database: caller.database,
    operation,
    check,
  };
  return learnedOf((await write(wanted)).outcome);
}

/** The result of such a write, from its recorded outcome. */
export function learnedOf(outcome: Outcome): Learned {
  const { asserted = 0, unchanged = 0, generation, note = null } = outcomeAs(outcome, 'committed');
  return { asserted, unchanged, generation, note };
}

/**
 * For each rule, why it cannot be taught, or null: it is unsafe, or does not fit the existing rules and the acceptable
 * ones before it.
 */
export async function ruleRefusals(
  database: DatabaseState,
  inputs: readonly RuleInput[],
  slices: Slices,
): Promise<(string | null)[]> {
  const rules = database.rules.copy();
  const refusals: (string | null)[] = [];
  for (const [at, input] of inputs.entries()) {
    refusals.push(refusalOf(input, { name: database.name, rules }, `supposed-${at}`));
    await slices.breathe();
  }
  return refusals;
}

/** Why the rule cannot be taught; an acceptable one is added to the copy. */
function refusalOf(
  input: RuleInput,
  copy: { readonly name: string; readonly rules: DatabaseState['rules'] },
  id: string,
): string | null {
  try {
    const operation = teachingOf(input);
    checkRuleOperation(copy, operation);
    changeRules(copy.rules, operation, { id, time: 0, generation: 0 });
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
}

function teachingOf(input: RuleInput): RuleOperation {
  return { kind: 'teach', rule: ruleToStore(input) };
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
export interface Learning {
  readonly facts: readonly LearnedFact[];
  readonly rules: readonly RuleInput[];
  /** A note recorded with the write, for a request repeated after a restart; null: none. */
  readonly note: string | null;
}

/**
 * What a text states: a type shared by engine and service, not on the wire. The caller interprets the text; `learn`
 * stores all of it or nothing.
 */
/** The result of `learn`. */
export interface Learned {
  readonly asserted: number;
  readonly unchanged: number;
  readonly generation: number;
  readonly note: string | null;
}
