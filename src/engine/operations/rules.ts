/** Operations on rules. */
import { withoutCancellation } from '../session/writer.ts';
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { Slices, runInSlices } from '../base/slices.ts';
import {
  consequencesOf,
  consequencesTimeoutMs,
  completenessPart,
  viewOfWrites,
} from '../session/consequences.ts';
import { dependentsAmong } from '../session/dependents.ts';
import { ruleRefusals } from '../write/learn.ts';
import { hintsOfRule, hintsPart } from '../read/hints.ts';
import { defaultLimits } from '../session/live-state.ts';
import { diagnosis } from '../language/diagnose.ts';
import { relationOf } from '../language/terms.ts';
import {
  checkRuleOperation,
  requireMatch,
  requireRule,
  ruleOutcome,
  ruleToStore,
  storedRule,
} from '../commit/prepare-rules.ts';
import { type Operation, type RuleOperation, outcomeAs } from '../state/operation.ts';
import { predicates } from './facts.ts';
import type { EngineContext } from './engine-context.ts';
import type * as contract from '../contract/rules.ts';

/** Adds a rule, or changes what is said of the same rule; refused if it is unsafe or cannot be stratified. */
export async function teach(
  engine: EngineContext,
  caller: Caller,
  input: contract.RuleInput,
): Promise<contract.RuleOutcome> {
  const operation: RuleOperation = { kind: 'teach', rule: ruleToStore(input) };
  let hints: string[] = [];
  const check = (): void => {
    checkRuleOperation(engine.live.database(caller), operation);
    hints = hintsOfNewRule(engine, caller, operation);
  };
  const { outcome } = await engine.write({ caller, database: caller.database, operation, check });
  return { ...ruleOutcome(outcome), ...hintsPart(hints) };
}

/** Replaces a rule; RuleNotFound if there is none, PreconditionFailed if it is not the version that the caller names. */
export async function updateRule(
  engine: EngineContext,
  caller: Caller,
  id: string,
  input: contract.RuleUpdate,
): Promise<contract.RuleOutcome> {
  const operation: RuleOperation = { kind: 'updateRule', id, rule: ruleToStore(input) };
  let hints: string[] = [];
  const check = (): void => {
    const database = engine.live.database(caller);
    requireMatch(caller, requireRule(database, id));
    checkRuleOperation(database, operation);
    hints = hintsOfNewRule(engine, caller, operation);
  };
  const { outcome } = await engine.write({ caller, database: caller.database, operation, check });
  return { ...ruleOutcome(outcome), ...hintsPart(hints) };
}

/** Deletes a rule, and reports how many conclusions went with it. */
export async function forgetRule(
  engine: EngineContext,
  caller: Caller,
  id: string,
): Promise<contract.RuleRetracted> {
  const operation: Operation = { kind: 'forgetRule', id };
  const watch = engine.live.watch(caller, defaultLimits, ({ reasoner, database }) => {
    const concluded = relationOf(requireRule(database, id).rule.head);
    return { candidates: reasoner.candidates(reasoner.reached([concluded])), losses: null };
  });
  try {
    const check = (): void => requireMatch(caller, requireRule(engine.live.database(caller), id));
    const { before } = watch;
    const report = await engine.write({
      caller,
      database: caller.database,
      operation,
      check,
      before,
    });
    const { generation } = outcomeAs(report.outcome, 'rule');
    if (report.isRepeated)
      return { status: 'retracted', dependentsCount: 0, consequencesComplete: false, generation };
    const { context, known } = watch.seen();
    const after = engine.live.after(context, generation, engine.live.programOf(context.database));
    const { atoms } = await dependentsAmong(after, context, known, []);
    engine.live.publishWithdrawn(caller, report, atoms);
    watch.claim({ atoms, isComplete: false });
    const [rule] = report.rules;
    const { head, scope } = present(
      rule && { head: rule.after.rule.head, scope: rule.after.scope },
      'it went',
    );
    const found = await consequencesOf(
      { before: context, after, relations: [relationOf(head)], views: [viewOfWrites(scope)] },
      { ...defaultLimits, timeoutMs: consequencesTimeoutMs, signal: withoutCancellation(caller).signal },
    );
    // Where not all is worked out, what is known of other views may be more.
    const isComplete = found.notWorkedOut.length === 0;
    const dependentsCount = isComplete ? found.lost : Math.max(found.lost, atoms.length);
    return { status: 'retracted', dependentsCount, ...completenessPart(found), generation };
  } finally {
    watch.end();
  }
}

/** The rules of a database, in the order in which they were taught. */
export async function rules(engine: EngineContext, caller: Caller): Promise<contract.StoredRule[]> {
  engine.live.refuseClosed();
  const database = engine.live.database(caller);
  const tallies = engine.live.talliesOf(database);
  return database.rules.all().map((kept) => storedRule(kept, tallies));
}

/** One rule; RuleNotFound if there is none. */
export async function rule(engine: EngineContext, caller: Caller, id: string): Promise<contract.StoredRule> {
  engine.live.refuseClosed();
  const database = engine.live.database(caller);
  return storedRule(requireRule(database, id), engine.live.talliesOf(database));
}

/** Diagnostics of a program text; nothing is stored. */
export async function validateRules(
  engine: EngineContext,
  caller: Caller,
  text: string,
): Promise<contract.ValidateResult> {
  const known = await predicates(engine, caller);
  const kept = engine.live.database(caller).rules.all();
  const slices = new Slices(engine.parts.pause);
  const result = await runInSlices(diagnosis(text, { predicates: known.predicates, rules: kept }), () =>
    slices.breathe(),
  );
  return { valid: result.diagnostics.every(({ severity }) => severity !== 'error'), ...result };
}

/** For each rule why it cannot be taught beside those there are and those before it; null: it can. */
export async function refusalsOfRules(
  engine: EngineContext,
  caller: Caller,
  inputs: readonly contract.RuleInput[],
): Promise<(string | null)[]> {
  engine.live.refuseClosed();
  return ruleRefusals(engine.live.database(caller), inputs, new Slices(engine.parts.pause));
}

/** Of a rule before it is kept. */
function hintsOfNewRule(engine: EngineContext, caller: Caller, operation: RuleOperation): string[] {
  const rule = operation.kind === 'forgetRule' ? null : operation.rule.rule;
  const known = engine.knownBefore(caller);
  return rule === null || known === null ? [] : hintsOfRule(known, rule);
}
