import { EngineError, invalid } from '../base/errors.ts';
import { runInSlices } from '../base/slices.ts';
import { compareText } from '../base/text-order.ts';
import { copiedRules, rulesOfScope } from '../state/apply-scopes.ts';
import { inExclusiveCommit, unlimited, withoutCancellation, type Writer } from '../session/writer.ts';
import type { Caller } from '../base/caller.ts';
import type { KnowledgeReader } from '../session/past-reader.ts';
import type { ReadContext } from '../session/read-context.ts';
import {
  completenessPart,
  type Consequences,
  consequencesOf,
  noConsequences,
} from '../session/consequences.ts';
import type {
  DiffInput,
  Forked,
  ForkInput,
  Merged,
  MergeInput,
  ScopeDeleted,
  ScopeDiff,
  ScopeList,
} from '../contract/scopes.ts';
import type {
  FactIdentity,
  FactRow,
  FactStore,
  FactToStore,
  FactVersion,
  ScopeChoice,
} from '../store/fact-store.ts';
import { noneKnown, relationsOf } from '../session/dependents.ts';
import { defaultLimits } from '../session/read-limits.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { renderAtom, renderIdentity } from '../language/print.ts';
import {
  baseOfMerge,
  basePart,
  evidentOf,
  type ResolvedBase,
  type MergePlan,
  planMerge,
} from '../state/merge-plan.ts';
import {
  type Commit,
  type ForkScope,
  type MergeScopes,
  type Operation,
  type Outcome,
  outcomeAs,
} from '../state/operation.ts';
import { checkFits } from '../commit/prepare-rules.ts';
import type { ScopeChange } from '../state/report.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';
import { conflictsOf, diffOf } from './scope-diff.ts';
import { commitOfRules, refuseFailing, testsOfWrite, triedPart } from './test-runs.ts';
import { factsOfScope, joinScopes, scopeFact } from '../state/scope-join.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { FactOverlay } from '../datalog/model/fact-overlay.ts';
import { present } from '../base/assert.ts';

/**
 * Scopes: list, fork, diff, merge and delete.
 *
 * A scope exists as long as it has a fact of the tenant or a rule, or was forked and not deleted; the facts without
 * scope always exist. Writes are checked in the exclusive commit, against the state just before them, and logged as
 * requested: `apply-scopes.ts` applies them.
 */

/** The scopes that exist, by name, with their counts and origins. */
export async function listScopes(
  { live }: { readonly live: KnowledgeReader },
  caller: Caller,
): Promise<ScopeList> {
  return live.reading(caller, unlimited, async ({ database, tenant, reader, pacer }) => {
    const { facts } = tenant;
    const found = new Map<string, ScopeList['scopes'][number]>();
    const entry = (name: string, createdAt: number): ScopeList['scopes'][number] => {
      const known = found.get(name);
      const scope = known ?? { name, facts: 0, rules: 0, createdAt, forkedFrom: null, forkedAt: null };
      scope.createdAt = Math.min(scope.createdAt, createdAt);
      found.set(name, scope);
      return scope;
    };
    // A copy as of the pinned reader, because counting yields between slices.
    const records = new Map(Array.from(facts.scopes.all(), ([number, record]) => [number, { ...record }]));
    for (const { scope, createdAt } of database.rules.all())
      if (scope !== null) entry(scope, createdAt).rules++;
    const counts = await countsByScope(facts, reader.generation, reader.time, pacer);
    for (const [number, record] of records) {
      const count = counts.get(number) ?? 0;
      const name = facts.scopeNames[number] ?? null;
      if (name === null || (count === 0 && !record.isForked)) continue;
      const scope = entry(name, record.createdAt);
      scope.facts = count;
      scope.forkedFrom = record.forkedFrom;
      scope.forkedAt = record.forkedAt;
    }
    const scopes = [...found.values()].sort((left, right) => compareText(left.name, right.name));
    return { scopes, count: scopes.length };
  });
}

/** Number of facts by scope number. */
async function countsByScope(
  facts: FactStore,
  generation: number,
  time: number,
  pacer: Pacer,
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (const relation of facts.relations.values()) {
    const end = relation.rowsAt(generation);
    for (let row = 0; row < end; row++) {
      if ((row & 0x1fff) === 0x1fff) await pacer.breathe();
      if (!relation.isHeld(row, generation, time)) continue;
      const scope = (relation.columns[relation.arity] as Int32Array)[row] as number;
      counts.set(scope, (counts.get(scope) ?? 0) + 1);
    }
  }
  return counts;
}

/**
 * Copies a scope: its facts, and its rules unless the caller is restricted to tenants. Throws ScopeNotFound, Conflict
 * if the target has facts, or RuleException.
 */
export async function forkScope(writer: Writer, caller: Caller, input: ForkInput): Promise<Forked> {
  const { source, target } = input;
  const withRules = caller.tenants.length === 0;
  const { tenant } = caller;
  const operation: ForkScope = { kind: 'forkScope', tenant, source, target, withRules, hasBase: true };
  const check = (time: number): Promise<void> =>
    inExclusiveCommit(writer, caller, async (context) => {
      await requireScope(context, time, source);
      if (source === target)
        throw new EngineError(
          'Conflict',
          `${nameOf(source)} cannot be forked onto itself: name another target`,
        );
      if (await hasFacts(context, target, time))
        throw new EngineError(
          'Conflict',
          `${nameOf(target)} has facts: fork onto a scope without facts, or merge into this one`,
        );
      if (withRules) checkRulesFit(context, operation, time);
    });
  const { outcome } = await writer.write({ caller, operation, check });
  const { facts, rules, generation } = outcomeAs(outcome, 'scope');
  return { source, target, facts, rules, generation };
}

/** The differences between two scopes; with `asMerge`, also what a merge would do. Throws ScopeNotFound. */
export async function diffScopes(
  { live }: { readonly live: KnowledgeReader },
  caller: Caller,
  input: DiffInput,
): Promise<ScopeDiff> {
  const { source, target, limit, asMerge } = input;
  if ((input.base ?? null) !== null && !asMerge)
    throw invalid('base', 'base is only for asMerge: true: add asMerge, or leave base out');
  return live.reading(caller, unlimited, async (context) => {
    const { reader, pacer, tenant } = context;
    const { facts } = tenant;
    const { found, ...asked } = await askedBase(
      context,
      { source, target, base: asMerge ? input.base : null },
      reader.time,
    );
    const sides = [source, target].map((scope) => facts.scopeNumber(scope));
    const join = joinScopes(facts, sides, reader, found);
    const joined = await runInSlices(join, () => pacer.breathe());
    if (!asMerge) return { source, target, ...(await diffOf(facts, joined, limit, context)) };
    const diff = await diffOf(facts, joined, limit, context, (difference) => {
      const { evident, opposite } = evidentOf(facts, difference, found !== null);
      if (opposite !== null) return { merge: 'conflict', opposite: scopeFact(facts, opposite, reader.names) };
      return { merge: evident ?? 'conflict' };
    });
    return { source, target, ...diff, ...basePart(asked, { ancestor: found?.ancestor ?? null }) };
  });
}

/**
 * Merges the facts of one scope into another. Throws ScopeNotFound, Conflict with the unresolved conflicts, or
 * ValidationException.
 */
export async function mergeScopes(writer: Writer, caller: Caller, input: MergeInput): Promise<Merged> {
  const run = input.runTests && writer.earlierOutcome(caller) === null;
  const found = run
    ? await testsOfWrite(writer, caller, (context) => mergeAsCommit(context, caller, input))
    : null;
  if (input.dryRun) return { ...(await tryMerge(writer, caller, input)), ...(found && triedPart(found)) };
  const tests = found === null ? {} : { tests: refuseFailing(found) };
  const { live } = writer;
  const operation = (time: number): Promise<DecidedWrite> =>
    inExclusiveCommit(writer, caller, async (context) => {
      const asked = await askedMerge(context, caller, input, time);
      const { retracted, stored } = await checkedPlan(context, asked, time);
      return { operation: asked.operation, isCertain: retracted.length + stored.length > 0 };
    });
  const watch = live.watch(withoutCancellation(caller), defaultLimits, () => noneKnown);
  try {
    const { before } = watch;
    const report = await writer.write({ caller, operation, isOfTenant: true, before });
    const { generation } = report;
    if (report.isRepeated)
      return repeatedAnswer(input, report.outcome, live.database(caller).declarations.names);
    const { context, hold } = watch.seen();
    const plan = present(changeOf(report).merge, 'a merge reports its plan');
    const after = live.after(context, generation, context.reader.program, hold.version);
    // The write is done, so a client that goes away cancels nothing.
    const { timeoutMs } = input;
    const found = await mergeConsequences(
      input,
      plan,
      context,
      after,
      timeoutMs,
      withoutCancellation(caller),
    );
    const answered = { ...context, pacer: pacerOf(context, withoutCancellation(caller), unlimited) };
    const { base = null } = outcomeAs(report.outcome, 'merged');
    const how = { strategy: input.strategy, base };
    return { ...(await mergedAnswer(how, plan, answered, found, generation)), ...tests };
  } finally {
    watch.end();
  }
}

/** What the merge would write, as a commit: tests run over it. Refuses what the merge would refuse. */
async function mergeAsCommit(context: ReadContext, caller: Caller, input: MergeInput): Promise<Commit> {
  const { reader, tenant, pacer } = context;
  const { facts } = tenant;
  const asked = await askedMerge(context, caller, input, reader.time);
  const plan = await checkedPlan(context, asked, reader.time);
  const retract: FactIdentity[] = [];
  for (const fact of plan.retracted)
    if (retract.push(facts.identityOf(fact)) % rowsInSlice === 0) await pacer.breathe();
  const assert: FactToStore[] = [];
  for (const { fact, version } of plan.stored) {
    const merged = { ...facts.identityOf(fact), scope: input.target, ...givenVersion(version) };
    if (assert.push(merged) % rowsInSlice === 0) await pacer.breathe();
  }
  return { ...commitOfRules(caller, []), retract, assert, isExact: true };
}

/** The version with all of its validity and metadata, as facts to store have them. */
function givenVersion({ from, until, metadata }: FactVersion): Omit<FactToStore, keyof FactIdentity> {
  return {
    validFrom: Number.isFinite(from) ? from : 'always',
    validUntil: Number.isFinite(until) ? until : 'never',
    metadata: metadata ?? {},
  };
}

/** The conclusions that the merge gains and loses in the view of the target. */
async function mergeConsequences(
  { target }: Pick<MergeScopes, 'target'>,
  { retracted, stored }: MergePlan,
  before: ReadContext,
  after: ReadContext,
  timeoutMs: number,
  { signal }: Caller,
): Promise<Consequences> {
  function* changed(): Generator<FactRow> {
    yield* retracted;
    for (const { fact } of stored) yield fact;
  }
  const relations = relationsOf(changed());
  const view: ScopeChoice = target === null ? { kind: 'unscoped' } : { kind: 'scope', scope: target };
  const limits = { ...defaultLimits, timeoutMs, signal };
  return consequencesOf({ before, after, relations, views: [view] }, limits);
}

/** The answer of `mergeScopes` without changing anything. */
async function tryMerge(writer: Writer, caller: Caller, input: MergeInput): Promise<Merged> {
  return writer.live.reading(
    caller,
    unlimited,
    async (context) => {
      const { reader, tenant, pacer } = context;
      const { facts } = tenant;
      const asked = await askedMerge(context, caller, input, reader.time);
      const { operation } = asked;
      const plan = await checkedPlan(context, asked, reader.time);
      await writer.refuseUnfit(caller, operation);
      let found = noConsequences;
      if (plan.retracted.length + plan.stored.length > 0) {
        const overlay = new FactOverlay(reader);
        let left = rowsInSlice;
        const breathe = async (): Promise<void> => {
          if (--left > 0) return;
          left = rowsInSlice;
          await pacer.breathe();
        };
        for (const fact of plan.retracted) {
          overlay.hideStored(fact);
          await breathe();
        }
        for (const { fact, version } of plan.stored) {
          overlay.store({
            ...facts.identityOf(fact),
            scope: operation.target,
            ...givenVersion(version),
          });
          await breathe();
        }
        const after = { ...context, reader: { ...reader, overlay } };
        found = await mergeConsequences(operation, plan, context, after, input.timeoutMs, caller);
      }
      const { strategy } = operation;
      const { base } = basePart(operation, plan);
      const answer = await mergedAnswer({ strategy, base }, plan, context, found, reader.generation);
      return { ...answer, dryRun: true };
    },
    null,
  );
}

const rowsInSlice = 256;

/** Deletes a scope: its facts, and its rules unless the caller is restricted to tenants. Throws ScopeNotFound. */
export async function deleteScope(writer: Writer, caller: Caller, name: string): Promise<ScopeDeleted> {
  const withRules = caller.tenants.length === 0;
  const operation: Operation = { kind: 'deleteScope', tenant: caller.tenant, scope: name, withRules };
  const check = (time: number): Promise<void> =>
    inExclusiveCommit(writer, caller, (context) => requireScope(context, time, name));
  const { outcome } = await writer.write({ caller, operation, check });
  const { facts, rules, generation } = outcomeAs(outcome, 'scope');
  return { scope: name, facts, rules, generation };
}

function pacerOf({ reasoner }: ReadContext, { signal }: Caller, limits: typeof unlimited): Pacer {
  return reasoner.pacer({ ...limits, signal });
}

/** Throws ScopeNotFound if the scope does not exist at this time. */
async function requireScope(context: ReadContext, time: number, scope: string | null): Promise<void> {
  const { database, tenant } = context;
  if (scope === null || rulesOfScope(database.rules, scope).length > 0) return;
  if (tenant.facts.scopes.get(tenant.facts.scopeNumber(scope))?.isForked === true) return;
  if (await hasFacts(context, scope, time)) return;
  throw new EngineError(
    'ScopeNotFound',
    `there is no scope ${JSON.stringify(scope)} in this tenant: GET /scopes lists the scopes`,
  );
}

async function hasFacts(
  { tenant, reader, pacer }: ReadContext,
  scope: string | null,
  time: number,
): Promise<boolean> {
  const number = tenant.facts.scopeNumber(scope);
  if (number < 0) return false;
  for (const found of factsOfScope(tenant.facts, number, reader.generation, time)) {
    if (found !== 'more') return true;
    await pacer.breathe();
  }
  return false;
}

/** Throws if the copied rules do not fit those of the target. */
function checkRulesFit({ database }: ReadContext, { source, target }: ForkScope, time: number): void {
  const copies = copiedRules(database, source, target, time);
  // Among themselves they fit under any name.
  if (target !== null && rulesOfScope(database.rules, target).length === 0) return;
  const rules = database.rules.copy();
  for (const copy of copies) {
    checkFits(rules, copy.rule, target, null);
    rules.put(copy);
  }
}

/** A merge with its base, resolved against the current state. */
interface AskedMerge {
  readonly operation: MergeScopes;
  readonly base: ResolvedBase | null;
}

/** The requested merge. Throws if a scope or the base does not exist. */
async function askedMerge(
  context: ReadContext,
  { tenant }: Caller,
  input: MergeInput,
  time: number,
): Promise<AskedMerge> {
  const { source, target, strategy } = input;
  const { found, base } = await askedBase(context, input, time);
  const resolutions = input.resolutions ?? [];
  const kind = 'mergeScopes';
  return {
    operation: { kind, tenant, source, target, strategy, base, resolutions, revision: 3 },
    base: found,
  };
}

/** The requested base, resolved synchronously: later the reader's state may differ. Throws if it does not exist. */
async function askedBase(
  context: ReadContext,
  { source, target, base: asked }: Pick<MergeInput, 'source' | 'target' | 'base'>,
  time: number,
): Promise<Pick<MergeScopes, 'base'> & { readonly found: ResolvedBase | null }> {
  const { facts } = context.tenant;
  const hasFork = facts.mergeBases.baseOf(facts.scopeNumber(source), facts.scopeNumber(target)) !== null;
  const isByFork = asked === 'fork' || (asked === undefined && hasFork);
  const named = typeof asked === 'object' ? (asked?.scope ?? null) : (asked ?? null);
  const base = isByFork ? ({ fork: true } as const) : named;
  const found = isByFork && !hasFork ? null : baseOfMerge(facts, { source, target, base }, context.reader);
  await requireScope(context, time, source);
  if (isByFork && !hasFork)
    throw invalid(
      'base',
      `${nameOf(source)} and ${nameOf(target)} have no recorded common fork: name a scope that both come from, or give null for a two-way merge`,
    );
  if (typeof base === 'string') await requireScope(context, time, base);
  return { base, found };
}

/** The plan of the merge. Throws if the merge is impossible. */
async function checkedPlan(
  context: ReadContext,
  { operation, base }: AskedMerge,
  time: number,
): Promise<MergePlan> {
  const { database, tenant, reader, pacer } = context;
  const { facts } = tenant;
  const moment = { generation: reader.generation, time };
  const steps = planMerge(facts, operation, base, moment, database.declarations);
  const plan = await runInSlices(steps, () => pacer.breathe());
  refuseResolutions(plan, operation);
  if (plan.unsettled.length > 0)
    throw new EngineError(
      'Conflict',
      `${differing(plan.unsettled)} by resolutions, or choose another strategy`,
      { conflicts: await conflictsOf(facts, plan.unsettled, context) },
    );
  if (plan.tooLarge !== null) {
    const atom = renderIdentity(facts.identityOf(plan.tooLarge));
    throw invalid(
      'strategy',
      `the metadata of ${atom} on both sides exceed 64 KiB together: resolve this fact`,
    );
  }
  return plan;
}

function differing(unsettled: MergePlan['unsettled']): string {
  const count = unsettled.length;
  const keys = unsettled.filter(({ isOfKey }) => isOfKey === true).length;
  const ofKeys =
    keys === 0 ? '' : `, ${keys === count ? '' : `${keys} of them `}by two facts with one value of a key`;
  return count === 1
    ? `1 fact differs on both sides${ofKeys}: settle it`
    : `${count} facts differ on both sides${ofKeys}: settle them`;
}

function refuseResolutions(plan: MergePlan, { resolutions }: MergeScopes): void {
  const path = (index: number): string => `resolutions.${index}`;
  const atomOf = (index: number): string => {
    const { predicate, args } = present(resolutions[index], 'the resolution exists');
    return renderAtom({ predicate, args: [...args], negated: false });
  };
  const errors = [
    ...plan.unmatchedResolutions.map((index) => ({
      path: path(index),
      message: `neither scope has a fact ${atomOf(index)}`,
    })),
    ...plan.duplicateResolutions.map((index) => ({
      path: path(index),
      message: `${atomOf(index)} has two resolutions: give only one`,
    })),
  ];
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  throw new EngineError('ValidationException', `${first.path}: ${first.message}${more}`, {
    errors: errors.slice(0, 100),
  });
}

async function mergedAnswer(
  asked: Pick<Merged, 'strategy' | 'base'>,
  plan: MergePlan,
  context: ReadContext,
  found: Consequences,
  generation: number,
): Promise<Merged> {
  const { ancestor, added, updated, deleted, kept, resolved } = plan;
  const conflicts = await conflictsOf(context.tenant.facts, plan.conflicts, context);
  const { gained, lost } = found;
  const counts = { added, updated, deleted, kept, resolved, gained, lost };
  return { ...asked, ancestor, ...counts, conflicts, ...completenessPart(found), generation };
}

/**
 * What can be repeated of a merge made before a restart: everything but the conclusions gained and lost. Arguments have the
 * names that are declared now.
 */
function repeatedAnswer({ strategy }: MergeInput, outcome: Outcome, names: ArgumentNames): Merged {
  const { kind: _kind, base = null, ancestor = null, conflicts, ...counts } = outcomeAs(outcome, 'merged');
  const unknown = { gained: 0, lost: 0, consequencesComplete: false as const };
  const named = present(conflicts, 'a longer outcome is not kept').map((each) => ({
    ...each,
    ...names.part(each.predicate, each.args),
  }));
  return { strategy, base, ancestor, ...counts, ...unknown, conflicts: named };
}

function changeOf({ scope }: { readonly scope: ScopeChange | null }): ScopeChange {
  return present(scope, 'a write of a scope reports it');
}

function nameOf(scope: string | null): string {
  return scope === null ? 'the facts without scope' : `the scope ${JSON.stringify(scope)}`;
}
