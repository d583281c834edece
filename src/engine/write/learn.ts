/**
 * One write of everything a text states: facts and rules in one record and one generation, and the turns of a
 * conversation that are to be remembered.
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
import { runInSlices, type Slices } from '../base/slices.ts';
import { matchFacts } from '../store/fact-matching.ts';
import type { FactStore, FactToStore } from '../store/fact-store.ts';
import { type Commit, type RuleOperation, type Outcome, outcomeAs } from '../state/operation.ts';
import { KeyCheck, refuseMisfits } from '../commit/prepare-shape.ts';
import { ruleToStore } from '../commit/prepare-rules.ts';
import type { Writer } from '../session/writer.ts';
import type { Write } from '../commit/commit-pipeline.ts';
import type { Metadata } from '../contract/facts.ts';

const betweenBreaths = 256;

/** Stores everything that a text taught in one generation, or nothing. Throws RuleException or ValidationException if a rule cannot be taught. */
export async function learn(writer: Writer, caller: Caller, learning: Learning): Promise<Learned> {
  const { live } = writer;
  const { facts, turns, note } = learning;
  const texts = turns?.texts ?? [];
  assert(facts.length + learning.rules.length + texts.length > 0, 'something to learn');
  const slices = writer.slices(caller);
  const rules = learning.rules.map((rule): RuleOperation => ({ kind: 'teach', rule: ruleToStore(rule) }));
  const toStore: FactToStore[] = [];
  const operation: Commit = {
    kind: 'commit',
    tenant: caller.tenant,
    retract: [],
    assert: toStore,
    rules,
    operations: facts.length + rules.length + texts.length,
  };
  let firstTurn: number | null = null;
  // No other write comes between this check and the record, so the check can complete the operation from what is
  // stored.
  const check = async (time: number): Promise<void> => {
    const { name, rules: taught, lastGeneration: generation, declarations } = live.database(caller);
    await checkRulesInTurn({ name, rules: taught }, rules, { time, generation }, slices);
    const store = live.storeOf(caller);
    const seen = new Set<string>();
    const keys = new KeyCheck(declarations, store, time);
    for (const [at, fact] of facts.entries()) {
      if (at % betweenBreaths === 0) await slices.breathe();
      // A record contains a fact only once.
      const { predicate, args, truthVal, scope } = fact;
      const key = JSON.stringify([predicate, truthVal, scope, ...args]);
      if (seen.has(key)) continue;
      seen.add(key);
      const storing = factToStore(fact, store, time);
      if (declarations.size > 0) {
        refuseMisfits(declarations, storing, `facts.${at}.`);
        await runInSlices(keys.check(storing, `facts.${at}.`), () => slices.breathe());
      }
      toStore.push(storing);
    }
    if (turns !== null && texts.length > 0) {
      firstTurn = (await lastTurn(store, turns.session, time, slices)) + 1;
      for (const [at, text] of texts.entries()) toStore.push(turnToStore(turns, firstTurn + at, text));
    }
    const noted = note === null || caller.idempotency === null ? {} : { note: note(firstTurn) };
    Object.assign(wanted, await encodeWrite({ ...operation, ...noted }, slices));
  };
  const wanted: Write = { caller, operation, check };
  const { outcome } = await writer.write(wanted);
  return { ...learnedOf(outcome), firstTurn };
}

/** The result of the first request with the caller's idempotency key, if that learned something; else null. */
export function learned(writer: Writer, caller: Caller): Learned | null {
  const outcome = writer.earlierOutcome(caller);
  return outcome === null ? null : learnedOf(outcome);
}

/** The result of such a write, from its recorded outcome. */
function learnedOf(outcome: Outcome): Learned {
  const { asserted = 0, unchanged = 0, generation, note = null } = outcomeAs(outcome, 'committed');
  return { asserted, unchanged, generation, note, firstTurn: null };
}

function factToStore(fact: LearnedFact, store: FactStore | null, time: number): FactToStore {
  const { predicate, args, truthVal, scope, metadata } = fact;
  const identity = { predicate, args, truthVal, scope };
  const known = store?.find(predicate, args, truthVal, scope) ?? null;
  const isStored = store !== null && known !== null && store.isStored(known, time);
  return isStored ? identity : { ...identity, metadata };
}

/** The predicate of turns that are remembered: `said(session, number, text)`. */
export const saidPredicate = 'said';

/** The number of the last turn of the session that is stored, in any scope; 0: none is. */
async function lastTurn(
  store: FactStore | null,
  session: string,
  time: number,
  slices: Slices,
): Promise<number> {
  if (store === null) return 0;
  const pattern = {
    predicate: saidPredicate,
    args: [session, '?number', '?text'],
    truthVal: true,
    scope: { kind: 'all' },
  } as const;
  let [last, looked] = [0, 0];
  for (const fact of matchFacts(store, pattern, (relation, row) => store.isStored({ relation, row }, time))) {
    if (++looked % betweenBreaths === 0) await slices.breathe();
    const number = Number(store.argsOf(fact)[1]);
    if (Number.isSafeInteger(number)) last = Math.max(last, number);
  }
  return last;
}

function turnToStore({ session, scope }: SaidTurns, number: number, text: string): FactToStore {
  const args = [session, String(number), text];
  return { predicate: saidPredicate, args, truthVal: true, scope, metadata: { episode: true } };
}

/** Turns to be remembered. */
export interface SaidTurns {
  readonly session: string;
  /** Of the turns, in their order; each is a constant. */
  readonly texts: readonly string[];
  readonly scope: string | null;
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
  /** Turns to be remembered; null: none. They are numbered on from the last one of their session. */
  readonly turns: SaidTurns | null;
  /**
   * A note recorded with the write, for a request repeated after a restart, given the number of the first turn; null:
   * none.
   */
  readonly note: ((firstTurn: number | null) => string) | null;
}

/** The result of `learn`. */
export interface Learned {
  readonly asserted: number;
  readonly unchanged: number;
  readonly generation: number;
  readonly note: string | null;
  /** The number of the first turn that was stored; null: none was, or an earlier request stored them. */
  readonly firstTurn: number | null;
}
