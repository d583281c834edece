import { assert } from '../base/assert.ts';
import { applyCommit } from './apply-commit.ts';
import { applyConsolidation, applyDecay, applyRestoring } from './apply-memory.ts';
import { applyRule } from './apply-rules.ts';
import { applyScopeDeletion, applyFork, applyMerge } from './apply-scopes.ts';
import { retractAll, storeFacts, applyImportUndo } from './apply-facts.ts';
import type { Prepared, Slice } from './apply-slices.ts';
import { createTenant, deleteDatabase, deleteTenant, nukeDatabase, nukeTenant } from './apply-tenants.ts';
import { applyToKeys, isKeyOperation } from './apply-keys.ts';
import { type KeyOperation, type Operation, operationVersion } from './operation.ts';
import { outcomeOf } from './outcome-of.ts';
import { type Draft, newDraft, type Report } from './report.ts';
import { DatabaseState, type State } from './state.ts';
import type { LogRecord } from '../log/codec.ts';

/**
 * The one function that changes the state.
 *
 * State is a fold of the log: `apply(state, record)` is deterministic, and is called by a live write, by recovery
 * and by a follower alike. It decides the outcome, gives out ids, and reports what changed; whatever feeds on changes
 * works from that report. What an operation can be refused for is checked before it is logged (`check`), so `apply`
 * refuses nothing. Time is the record's stamp and nothing else.
 *
 * A write of many facts is applied in slices (`applying`): rows are put in, and end, in the generation after the one
 * that is there, which no reader has; then one last step makes that generation the one that is there. So what is half
 * done is seen by nobody. Records are applied one after the other: none begins before the one before it has ended.
 */

/** Applies the next record. Never refuses; whatever it throws is a bug. */
export function apply(state: State, record: LogRecord): Report {
  const steps = applying(state, record);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As `apply`, in slices. Until the step after `ready` nobody can see anything of it. */
export function* applying(state: State, record: LogRecord): Generator<Slice, Report, undefined> {
  assert(record.sequence === state.sequence + 1, 'records are applied one after the other');
  assert(record.version === operationVersion, `operations of version ${record.version} are known`);
  state.isChanging = true;
  const show = yield* prepared(state, record);
  yield 'ready';
  state.isChanging = false;
  state.sequence = record.sequence;
  state.time = Math.max(state.time, record.time);
  const report = show();
  const { actor, time, idempotency: mark } = record;
  if (mark !== undefined)
    state.idempotency.keep({ actor, mark, time, outcome: JSON.stringify(report.outcome) });
  return report;
}

/** Does what can be done unseen; what is returned does the rest, and reports. */
function* prepared(state: State, record: LogRecord): Prepared<Report> {
  const operation = record.operation as Operation;
  if (operation.kind === 'createDatabase')
    return () => {
      const draft = newDraft(createDatabase(state, operation.name, record.time), null);
      return { ...draft, outcome: outcomeOf(operation, record, draft) };
    };
  if (isKeyOperation(operation))
    return () => {
      const draft = newDraft(state.database(record.database), null);
      draft.keys = applyToKeys(state.keys, operation, record.time);
      return { ...draft, outcome: outcomeOf(operation, record, draft) };
    };
  const database = state.database(record.database);
  const tenant = 'tenant' in operation ? operation.tenant : null;
  const facts = tenant === null ? undefined : database.tenants.get(tenant)?.facts;
  if (facts !== undefined) yield* facts.settleScopes(record.time);
  const draft = newDraft(database, tenant);
  const show = yield* preparedIn(state, database, operation, record, draft);
  return () => {
    show();
    draft.generation = database.generation;
    return { ...draft, outcome: draft.outcome ?? outcomeOf(operation, record, draft) };
  };
}

function* preparedIn(
  state: State,
  database: DatabaseState,
  operation: Exclude<Operation, KeyOperation | { kind: 'createDatabase' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  switch (operation.kind) {
    case 'assert':
      return yield* storeFacts(database, operation, record, draft);
    case 'undoImport':
      return yield* applyImportUndo(database, operation, record, draft);
    case 'retract':
      return yield* retractAll(database, operation.tenant, record, draft, (facts) =>
        facts.match(operation.pattern, database.generation, record.time, true),
      );
    case 'retractById':
      return yield* retractAll(database, operation.tenant, record, draft, (facts) => {
        const fact = facts.byId(operation.id);
        return fact !== null && facts.isStored(fact, record.time) ? [fact] : [];
      });
    case 'teach':
    case 'updateRule':
    case 'forgetRule':
      return () => void draft.rules.push(applyRule(database, operation, record));
    case 'commit':
      return yield* applyCommit(database, operation, record, draft);
    case 'forkScope':
      return yield* applyFork(database, operation, record, draft);
    case 'mergeScopes':
      return yield* applyMerge(database, operation, record, draft);
    case 'deleteScope':
      return yield* applyScopeDeletion(database, operation, record, draft);
    case 'decay':
      return yield* applyDecay(database, operation, record, draft);
    case 'consolidate':
      return yield* applyConsolidation(database, operation, record, draft);
    case 'restore':
      return yield* applyRestoring(database, operation, record, draft);
    case 'createTenant':
      return () => createTenant(database, operation.tenant, record);
    case 'deleteTenant':
      return yield* deleteTenant(database, operation.tenant, record, draft);
    case 'nukeTenant':
      return yield* nukeTenant(database, operation.tenant, record, draft);
    case 'deleteDatabase':
      return yield* deleteDatabase(state, database, record, draft);
    case 'nukeDatabase':
      return yield* nukeDatabase(database, record, draft);
  }
}

function createDatabase(state: State, name: string, time: number): DatabaseState {
  const database = new DatabaseState(name, time, state.goneDatabases.get(name) ?? 0);
  state.databases.set(name, database);
  return database;
}
