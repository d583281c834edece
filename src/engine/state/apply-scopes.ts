import type { FactRow, FactStore } from '../store/fact-store.ts';
import type { RuleRecord, RuleStore } from '../store/rule-store.ts';
import { type Draft, type Prepared, rowsInSlice } from './report.ts';
import { baseOfMerge, emptyPlan, type MergePlan, planMerge } from './merge-plan.ts';
import type { ForkScope, MergeScopes, Operation } from './operation.ts';
import type { MergeConflict } from '../contract/scopes.ts';
import { bytesOfRow } from '../store/stored-amounts.ts';
import { maxListedInOutcome } from './idempotency.ts';
import { conflictsInSlices, factsOfScope } from './scope-join.ts';
import type { DatabaseState, TenantState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';
import { aliveFacts, FactWriter } from './apply-facts.ts';

/**
 * Applies operations on whole scopes. A record holds the request, and applying it reads its effect from the state; all
 * checks ran before.
 *
 * Facts are copied by dictionary id without reading text: rows are found first and written afterwards. New facts are
 * numbered by relation name, then row. Rules, the scope's record and dropped uses change in the step that publishes the
 * generation.
 */

/** Copies facts with validity and metadata, and the rules that target does not have. */
export function* applyFork(
  database: DatabaseState,
  operation: ForkScope,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const { source, target } = operation;
  const tenant = database.tenantOrNew(operation.tenant, record.time);
  const { facts } = tenant;
  const before = database.generationOf(operation.tenant);
  const hasBase = operation.hasBase === true;
  draft.isChange = hasBase;
  const rows = yield* collected(facts, facts.scopeNumber(source), before, record.time);
  const number = facts.internScope(target);
  const writer = new FactWriter(database, tenant, record, draft);
  const generation = before + 1;
  // The source may be only the name of a scope with rules.
  const base = { scope: facts.internScope(source), generation, time: record.time };
  const { mergeBases } = facts;
  const bases = hasBase ? mergeBases.forked(number, base) : mergeBases.ended(number, generation);
  const showBases = yield* facts.changeBases(bases, writer.copy(versionsOf(facts, rows), number));
  const copies = operation.withRules ? copiedRules(database, source, target, record.time) : [];
  return () => {
    for (const stored of copies) {
      database.rules.put(stored);
      draft.rules.push({ after: stored, before: null, status: 'asserted', isChange: true });
    }
    const known = facts.scopes.get(number);
    const isNewFork = target !== null && (known?.isForked !== true || known.forkedFrom !== source);
    if (target !== null && (isNewFork || hasBase))
      facts.scopes.fork(number, source, record.time, hasBase ? generation : null);
    showBases();
    const isChange = rows.length > 0 || copies.length > 0 || isNewFork || hasBase;
    if (isChange) database.tenants.set(operation.tenant, tenant);
    writer.show(isChange);
    draft.scope = { name: target, isChange, facts: rows.length, rules: copies.length, merge: null };
  };
}

/** Carries out the merge plan, made from the state right before the merge. */
export function* applyMerge(
  database: DatabaseState,
  operation: MergeScopes,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const { target } = operation;
  const tenant = database.tenants.get(operation.tenant);
  const nothing = { name: target, isChange: false, facts: 0, rules: 0, merge: emptyPlan(), conflicts: [] };
  if (tenant === undefined) return () => void (draft.scope = nothing);
  const { facts } = tenant;
  const moment = { generation: database.generationOf(operation.tenant), time: record.time };
  const { exactly } = operation;
  const merge =
    exactly === undefined
      ? yield* planMerge(
          facts,
          operation,
          baseOfMerge(facts, operation, moment),
          moment,
          database.declarations,
        )
      : emptyPlan();
  const { retracted, stored } = merge;
  const isChange = exactly?.isChange ?? retracted.length + stored.length > 0;
  const number = isChange ? facts.internScope(target) : facts.scopeNumber(target);
  const writer = new FactWriter(database, tenant, record, draft);
  const bases = facts.mergeBases.merged(number, {
    scope: facts.scopeNumber(operation.source),
    generation: moment.generation + (isChange ? 1 : 0),
    time: record.time,
  });
  const showBases = yield* facts.changeBases(bases, written());
  function* written(): Generator<'more', void, undefined> {
    // In this order the scope never becomes empty in between.
    yield* writer.copy(stored, number);
    yield* writer.retract(retracted);
    if (exactly === undefined) return;
    yield* writer.storeAll(exactly.stored);
    yield* writer.retract(aliveFacts(facts, exactly.retracted));
  }
  const conflicts = record.idempotency === undefined ? [] : yield* keptConflicts(facts, merge);
  return () => {
    showBases();
    if (isChange) database.tenants.set(operation.tenant, tenant);
    writer.show(isChange);
    const changed = retracted.length + stored.length;
    draft.scope = { name: target, isChange, facts: changed, rules: 0, merge, conflicts };
  };
}

/** The conflicts for a repeated request; null: too many. */
function* keptConflicts(
  facts: FactStore,
  { conflicts }: MergePlan,
): Generator<'more', MergeConflict[] | null, undefined> {
  let left = maxListedInOutcome;
  for (const { source, target } of conflicts) {
    for (const fact of [source, target]) if (fact !== null) left -= bytesOfConflict + bytesOfRow(facts, fact);
    if (left < 0) return null;
  }
  return yield* conflictsInSlices(facts, conflicts);
}

/** Bytes of one side of a conflict beside its atom and metadata. */
const bytesOfConflict = 128;

/** Retracts the tenant's facts of the scope, and removes its rules unless another tenant has facts there. */
export function* applyScopeDeletion(
  database: DatabaseState,
  operation: Extract<Operation, { kind: 'deleteScope' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const { scope } = operation;
  const tenant = database.tenantOrNew(operation.tenant, record.time);
  const { facts } = tenant;
  const number = facts.scopeNumber(scope);
  const before = database.generationOf(operation.tenant);
  const rows = yield* collected(facts, number, before, record.time, () => {
    draft.isChange = true;
  });
  const writer = new FactWriter(database, tenant, record, draft);
  const bases = facts.mergeBases.ended(number, before + 1);
  const showBases = yield* facts.changeBases(bases, writer.retract(rows));
  const own = operation.withRules ? rulesOfScope(database.rules, scope) : [];
  // Without rules it reads no other tenant, whose writes may be applied meanwhile.
  const isShared = own.length > 0 && (yield* isHeldByOthers(database, tenant, scope, record.time));
  const rules = isShared ? [] : own;
  return () => {
    for (const stored of rules) {
      database.rules.remove(stored);
      draft.rules.push({ after: stored, before: stored, status: 'retracted', isChange: true });
    }
    const isChange = rows.length + rules.length > 0 || facts.scopes.get(number)?.isForked === true;
    facts.scopes.delete(number);
    showBases();
    if (isChange) database.tenants.set(operation.tenant, tenant);
    writer.show(isChange);
    draft.scope = { name: scope, isChange, facts: rows.length, rules: rules.length, merge: null };
  };
}

/** The rules of exactly this scope, in order of creation. */
export function rulesOfScope(rules: RuleStore, scope: string | null): RuleRecord[] {
  return rules.all().filter((stored) => stored.scope === scope);
}

/** The rules that a fork copies: those of source that target lacks, as new rules of target. */
export function copiedRules(
  { rules, lastGeneration }: DatabaseState,
  source: string | null,
  target: string | null,
  time: number,
): RuleRecord[] {
  // A rule without scope applies in every scope already.
  if (source === null) return [];
  const changedIn = lastGeneration + 1;
  return rulesOfScope(rules, source)
    .filter(({ identity }) => rules.same(identity, target) === null)
    .map((stored, index) => ({
      ...stored,
      id: index === 0 ? `r${changedIn}` : `r${changedIn}-${index}`,
      scope: target,
      createdAt: time,
      changedIn,
    }));
}

/** The facts of the scope as stored in this generation and at this time, in slices; calls `found` for each. */
export function* collected(
  facts: FactStore,
  scope: number,
  generation: number,
  time: number,
  found: () => void = () => {},
): Generator<'more', FactRow[], undefined> {
  const rows: FactRow[] = [];
  for (const each of factsOfScope(facts, scope, generation, time)) {
    if (each === 'more') {
      yield each;
      continue;
    }
    found();
    if (rows.push(each) % rowsInSlice === 0) yield 'more';
  }
  return rows;
}

type StoredVersion = MergePlan['stored'][number];

/** The facts with their current versions. */
function* versionsOf(facts: FactStore, rows: readonly FactRow[]): Generator<StoredVersion> {
  for (const fact of rows) yield { fact, version: facts.versionAt(fact) };
}

/** True if another tenant has facts in the scope at this time. */
function* isHeldByOthers(
  database: DatabaseState,
  own: TenantState,
  scope: string,
  time: number,
): Generator<'more', boolean, undefined> {
  for (const tenant of database.tenants.values()) {
    if (tenant === own) continue;
    const { facts } = tenant;
    yield* facts.settleScopes(time);
    if ((facts.scopes.get(facts.scopeNumber(scope))?.held ?? 0) > 0) return true;
  }
  return false;
}
