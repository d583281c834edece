import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import {
  checkRuleOperation,
  requireMatch,
  requireRule,
  ruleOutcome,
  ruleToStore,
} from '../commit/prepare-rules.ts';
import type { RuleInput, RuleOutcome, RuleRetracted, RuleUpdate } from '../contract/rules.ts';
import type { Rule } from '../contract/language.ts';
import { relationOf } from '../language/terms.ts';
import { hintsOfRule, hintsPart } from '../read/hints.ts';
import {
  completenessPart,
  consequencesOf,
  consequencesTimeoutMs,
  viewOfWrites,
} from '../session/consequences.ts';
import { dependentsAmong, everKnown } from '../session/dependents.ts';
import type { LiveState } from '../session/live-state.ts';
import { defaultLimits } from '../session/read-limits.ts';
import { withoutCancellation, type Writer } from '../session/writer.ts';
import { changeRules } from '../state/apply-rules.ts';
import { outcomeAs, type RuleOperation } from '../state/operation.ts';
import type { RuleStore } from '../store/rule-store.ts';
import { namesBefore } from './tell.ts';
import { commitOfRules, refuseFailing, testsOfWrite } from './test-runs.ts';

/** What changes of a rule; `runTests`: whether the stored tests judge it. */
export type RuleUpdateInput = Omit<RuleUpdate, 'runTests'> & { readonly runTests?: boolean };

/** Adds a rule, or changes the fields of an equal one; refused if it is unsafe or cannot be stratified. */
export async function teach(
  writer: Writer,
  caller: Caller,
  { runTests = false, ...input }: RuleInput & { readonly runTests?: boolean },
): Promise<RuleOutcome> {
  return writeRule(writer, caller, { kind: 'teach', rule: ruleToStore(input) }, runTests);
}

/** Replaces a rule; RuleNotFound if there is none, PreconditionFailed if it is not the version that the caller names. */
export async function updateRule(
  writer: Writer,
  caller: Caller,
  id: string,
  { runTests = false, ...input }: RuleUpdateInput,
): Promise<RuleOutcome> {
  return writeRule(writer, caller, { kind: 'updateRule', id, rule: ruleToStore(input) }, runTests);
}

async function writeRule(
  writer: Writer,
  caller: Caller,
  operation: Exclude<RuleOperation, { kind: 'forgetRule' }>,
  runTests: boolean,
): Promise<RuleOutcome> {
  const { live, write } = writer;
  const tests = runTests ? await testsPassed(writer, caller, operation) : {};
  let hints: string[] = [];
  const check = (): void => {
    const database = live.database(caller);
    if (operation.kind === 'updateRule') requireMatch(caller, requireRule(database, operation.id));
    checkRuleOperation(database, operation);
    hints = hintsOfNewRule(live, caller, operation.rule.rule);
  };
  const { outcome } = await write({ caller, operation, check });
  return { ...ruleOutcome(outcome), ...tests, ...hintsPart(hints) };
}

/** Runs the stored tests over the outcome of the write. Throws TestsFailed if one fails. A repeated request runs none. */
async function testsPassed(
  writer: Writer,
  caller: Caller,
  operation: RuleOperation,
): Promise<Pick<RuleOutcome, 'tests'>> {
  if (writer.earlierOutcome(caller) !== null) return {};
  const tests = await testsOfWrite(writer, caller, ({ database }) => {
    if (operation.kind !== 'teach') requireMatch(caller, requireRule(database, operation.id));
    checkRuleOperation(database, operation);
    return Promise.resolve(commitOfRules(caller, [operation]));
  });
  return { tests: refuseFailing(tests) };
}

/** Deletes a rule, and reports how many conclusions went with it. */
export async function forgetRule(
  writer: Writer,
  caller: Caller,
  id: string,
  runTests = false,
): Promise<RuleRetracted> {
  const { live, write } = writer;
  const operation: RuleOperation = { kind: 'forgetRule', id };
  const tests = runTests ? await testsPassed(writer, caller, operation) : {};
  const watch = live.watch(caller, defaultLimits, ({ reasoner, database }) => {
    const concluded = relationOf(requireRule(database, id).rule.head);
    return everKnown(reasoner, reasoner.reached([concluded]));
  });
  try {
    const check = (): void => requireMatch(caller, requireRule(live.database(caller), id));
    const report = await write({ caller, operation, check, before: watch.before });
    const { generation } = outcomeAs(report.outcome, 'rule');
    if (report.isRepeated)
      return { status: 'retracted', dependentsCount: 0, consequencesComplete: false, ...tests, generation };
    const { context, known } = watch.seen();
    const after = live.after(context, generation, live.programOf(context.database));
    const { atoms } = await dependentsAmong(after, context, known, []);
    live.publishWithdrawn(caller, report, atoms);
    watch.claim({ atoms, isComplete: false });
    const { rule, scope } = present(report.rules[0], 'the deleted rule is reported').after;
    const found = await consequencesOf(
      { before: context, after, relations: [relationOf(rule.head)], views: [viewOfWrites(scope)] },
      { ...defaultLimits, timeoutMs: consequencesTimeoutMs, signal: withoutCancellation(caller).signal },
    );
    // Where not all is worked out, what is known of other views may be more.
    const isComplete = found.notWorkedOut.length === 0;
    const dependentsCount = isComplete ? found.lost : Math.max(found.lost, atoms.length);
    return { status: 'retracted', dependentsCount, ...completenessPart(found), ...tests, generation };
  } finally {
    watch.end();
  }
}

/**
 * For each rule, why it cannot be taught, or null: it is unsafe, or does not fit the existing rules and the acceptable
 * ones before it.
 */
export async function ruleRefusals(
  writer: Writer,
  caller: Caller,
  inputs: readonly RuleInput[],
): Promise<(string | null)[]> {
  const { live } = writer;
  live.refuseClosed();
  const slices = writer.slices(caller);
  const { name, rules: stored } = live.database(caller);
  const copy = { name, rules: stored.copy() };
  const refusals: (string | null)[] = [];
  for (const [at, input] of inputs.entries()) {
    refusals.push(refusalOf(input, copy, `supposed-${at}`));
    await slices.breathe();
  }
  return refusals;
}

/** Why the rule cannot be taught; an acceptable one is added to the copy. */
function refusalOf(
  input: RuleInput,
  copy: { readonly name: string; readonly rules: RuleStore },
  id: string,
): string | null {
  try {
    const operation: RuleOperation = { kind: 'teach', rule: ruleToStore(input) };
    checkRuleOperation(copy, operation);
    changeRules(copy.rules, operation, { id, time: 0, generation: 0 });
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
}

/** Hints for a rule before it is stored. */
function hintsOfNewRule(live: LiveState, caller: Caller, rule: Rule | null): string[] {
  const known = namesBefore(live, caller);
  return rule === null || known === null ? [] : hintsOfRule(known, rule);
}
